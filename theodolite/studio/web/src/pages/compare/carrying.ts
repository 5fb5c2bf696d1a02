/** Texts in the address: short ones themselves, long ones by a key to what this browser tab keeps. */

const PLACE = "theodolite.compare.";
/** Characters of one text as the address has them; beyond that, mail and chat cut links off. */
export const CARRIED = 2000;

export interface Carried {
  /** The text itself, where the address holds it. */
  text: string;
  /** Otherwise the key it is kept under. */
  key: string;
}

export function carry(text: string): Carried {
  if (encodeURIComponent(wellFormed(text)).length <= CARRIED) return { text, key: "" };
  const key = hash(text);
  try {
    sessionStorage.setItem(PLACE + key, text);
  } catch {
    // Storage that is full or refused: the text is still in its box, only a reload loses it.
  }
  return { text: "", key };
}

/** The text that an address stands for; null where this tab does not have it. */
export function carried({ text, key }: Carried): string | null {
  if (!key) return text;
  try {
    return sessionStorage.getItem(PLACE + key);
  } catch {
    return null;
  }
}

/** Without halves of characters, which no address and no request can hold. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** A short name of a text (FNV-1a over its units, and its length). */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return `${(value >>> 0).toString(36)}-${text.length.toString(36)}`;
}
