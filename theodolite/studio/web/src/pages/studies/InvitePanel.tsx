import { useState } from "preact/hooks";
import { invite, type Invitation, type StudyInfo } from "../../api/studies";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { Panel } from "../../components/Panel";
import { TextArea } from "../../components/TextArea";
import { faultText } from "../../lib/api";

interface InvitePanelProps {
  study: StudyInfo;
  /** Those told since the page was opened. */
  links: Invitation[];
  onLinks: (links: Invitation[]) => void;
  refresh: () => void;
}

/** Names in, personal links out: they are told this once. */
export function InvitePanel({ study, links, onLinks, refresh }: InvitePanelProps) {
  const [names, setNames] = useState("");
  const [fault, setFault] = useState<string>();
  const [busy, setBusy] = useState(false);
  const wanted = names.split("\n").map((name) => name.trim()).filter(Boolean);
  const send = async () => {
    if (!wanted.length || busy) return;
    setBusy(true);
    setFault(undefined);
    try {
      onLinks(await invite(study.id, wanted));
      setNames("");
      refresh();
    } catch (error) {
      setFault(faultText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Panel title="Invite annotators" note="Each gets a personal link. Whoever has it answers in their name.">
      <div class="stack">
        <TextArea label="Names, one a line" rows={3} value={names} onChange={setNames} onEnter={() => void send()} />
        <div>
          <Button kind="primary" disabled={!wanted.length || busy} onClick={() => void send()}>
            {wanted.length > 1 ? `Invite ${wanted.length} people` : "Invite"}
          </Button>
        </div>
        {fault && <Fault message={fault} />}
        {links.length > 0 && (
          <div class="studies-links" role="status">
            <p>
              <strong>Copy these links now.</strong> They are shown this once; only a new link can replace one that is lost.
            </p>
            <ul>
              {links.map((one) => (
                <LinkRow key={one.token} link={one} />
              ))}
            </ul>
          </div>
        )}
      </div>
    </Panel>
  );
}

function LinkRow({ link }: { link: Invitation }) {
  const address = `${location.origin}${link.path}`;
  const [copied, setCopied] = useState(false);
  const copy = async (event: MouseEvent) => {
    const field = (event.currentTarget as HTMLElement).parentElement?.querySelector("input");
    field?.select();
    try {
      await navigator.clipboard.writeText(address);
    } catch {
      // Browsers allow the clipboard on safe addresses only; the link is selected, to be copied by hand.
      return;
    }
    setCopied(true);
  };
  return (
    <li>
      <bdi class="studies-link-name">{link.name}</bdi>
      <input class="input" readOnly value={address} aria-label={`Link for ${link.name}`} onFocus={(event) => event.currentTarget.select()} />
      <Button onClick={(event) => void copy(event)} label={`Copy the link for ${link.name}`}>
        {copied ? "Copied" : "Copy"}
      </Button>
    </li>
  );
}
