import { render } from "preact";
import { AnnotateApp } from "./pages/annotate/AnnotateApp";
import "./styles/index.css";

const root = document.getElementById("app");
if (root) render(<AnnotateApp />, root);
