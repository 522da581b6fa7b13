/** Of a task that was asked for outside of the scope: who asked and where, and what their words hold that nobody sees there. [GHR-37] */
import { Shown } from "../ui/shown.tsx";

/** The address stays text: it came with the words. */
export function WhoAsked({ by, where }: { readonly by: string; readonly where: string | null }) {
  return (
    <>
      <Shown text={by} line />
      {where !== null && (
        <>
          , at <Shown text={where} line />
        </>
      )}
    </>
  );
}

export function HiddenParts({ parts }: { readonly parts: readonly string[] }) {
  return (
    <>
      <span className="untrusted">
        Whoever reads the words there does not see this, and the model was not given it.
      </span>
      <ul className="origins" aria-label="Hidden in the words">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same part may be hidden twice
          <li key={index}>
            <Shown text={part} />
          </li>
        ))}
      </ul>
    </>
  );
}
