import type { ComponentChildren } from "preact";
import type { Tool } from "./gestures";

interface ToolsProps {
  tool: Tool;
  onTool: (tool: Tool) => void;
  onZoom: (nearer: boolean) => void;
  onFit: () => void;
  onSelectView: () => void;
}

/** The buttons on the map. */
export function Tools({ tool, onTool, onZoom, onFit, onSelectView }: ToolsProps) {
  return (
    <div class="map-tools" role="toolbar" aria-label="Map tools" aria-orientation="vertical">
      <div class="map-tool-group">
        <ToolButton label="Move the map" pressed={tool === "move"} onClick={() => onTool("move")}>
          <path d="M12 3v18M3 12h18M12 3l-3 3m3-3 3 3M12 21l-3-3m3 3 3-3M3 12l3-3m-3 3 3 3M21 12l-3-3m3 3-3 3" />
        </ToolButton>
        <ToolButton label="Select with a lasso" pressed={tool === "lasso"} onClick={() => onTool("lasso")}>
          <path d="M6.5 15.5C4.5 14.5 3 12.5 3 10.5 3 6.5 7 4 12 4s9 2.5 9 6.5-4 6-9 6c-1.2 0-2.3-.1-3.3-.4M8 16a2 2 0 1 0-3 1.5c0 1.5-.5 2.5-1.5 3" />
        </ToolButton>
        <ToolButton label="Select a rectangle" pressed={tool === "rectangle"} onClick={() => onTool("rectangle")}>
          <rect x="4" y="6" width="16" height="12" rx="1" stroke-dasharray="3 2.5" />
        </ToolButton>
      </div>
      <div class="map-tool-group">
        <ToolButton label="Zoom in" onClick={() => onZoom(true)}>
          <path d="M12 5v14M5 12h14" />
        </ToolButton>
        <ToolButton label="Zoom out" onClick={() => onZoom(false)}>
          <path d="M5 12h14" />
        </ToolButton>
        <ToolButton label="Show the whole map" onClick={onFit}>
          <path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5" />
        </ToolButton>
        <ToolButton label="Select what is in view" onClick={onSelectView}>
          <path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5M8 12l3 3 5-6" />
        </ToolButton>
      </div>
    </div>
  );
}

interface ToolButtonProps {
  label: string;
  pressed?: boolean;
  onClick: () => void;
  children: ComponentChildren;
}

function ToolButton({ label, pressed, onClick, children }: ToolButtonProps) {
  return (
    <button type="button" class="map-tool" aria-label={label} title={label} aria-pressed={pressed} onClick={onClick}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        {children}
      </svg>
    </button>
  );
}
