import { Component, type ComponentChildren } from "preact";
import { Fault } from "../components/Fault";

/** Keeps a fault of one page from taking the studio with it. */
export class Guarded extends Component<{ children: ComponentChildren }, { fault: string | null }> {
  override state = { fault: null };

  static override getDerivedStateFromError(error: unknown) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    if (this.state.fault === null) return this.props.children;
    return (
      <div class="page">
        <Fault
          message={`Something went wrong on this page: ${this.state.fault}`}
          again={() => this.setState({ fault: null })}
        />
      </div>
    );
  }
}
