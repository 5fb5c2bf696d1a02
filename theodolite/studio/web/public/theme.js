// Runs before the first paint, so that a dark page never flashes white.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    let wanted = "system";
    try {
      wanted = localStorage.getItem("theme") ?? "system";
    } catch {
      // A browser may forbid storage; the system's choice then stands.
    }
    const theme = wanted === "light" || wanted === "dark" ? wanted : dark.matches ? "dark" : "light";
    document.documentElement.dataset.theme = theme;
  };
  apply();
  dark.addEventListener("change", apply);
  addEventListener("storage", apply);
  addEventListener("theme", apply);
})();
