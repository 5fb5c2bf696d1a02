import { render } from "preact";
import { App } from "./app/App";
import "./styles/index.css";
import "./styles/shell.css";

const root = document.getElementById("app");
if (root) render(<App />, root);
