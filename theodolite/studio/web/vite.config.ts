import { resolve } from "node:path";
import { defineConfig } from "vite";

const here = import.meta.dirname;

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: resolve(here, "../static"),
    emptyOutDir: true,
    target: "es2022",
    // The content policy allows no data: fonts or scripts, so every asset is a file of its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { index: resolve(here, "index.html"), annotate: resolve(here, "annotate.html") },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8400" } },
});
