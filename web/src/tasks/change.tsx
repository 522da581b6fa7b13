/** The change a task makes, file by file. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type TaskView, taskPatch } from "../api/queries.ts";
import { Failure, Loading } from "../ui/notice.tsx";
import { Shown } from "../ui/shown.tsx";
import { type PatchFile, type PatchLine, parsePatch } from "./patch.ts";

const linesAtFirst = 400;
const filesOpen = 12;

export function Change({ task }: { readonly task: TaskView }) {
  const has = task.attempts.some((attempt) => attempt.patch !== null);
  const patch = useQuery({ ...taskPatch(task.id), enabled: has });
  const files = useMemo(() => parsePatch(patch.data ?? ""), [patch.data]);
  if (!has) return null;
  return (
    <section aria-label="The change" className="diff">
      <h2>The change</h2>
      {patch.isPending && <Loading what="the change" />}
      {patch.error !== null && <Failure error={patch.error} again={() => void patch.refetch()} />}
      {patch.data !== undefined && files.length === 0 && <p className="quiet">No file is changed.</p>}
      {files.map((file, index) => (
        // Two items may change the same file, so a path alone is not an identity.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <File file={file} open={index < filesOpen} key={`${index} ${file.path}`} />
      ))}
    </section>
  );
}

function File({ file, open }: { readonly file: PatchFile; readonly open: boolean }) {
  const [all, setAll] = useState(false);
  const lines = all ? file.lines : file.lines.slice(0, linesAtFirst);
  return (
    <details className="file" open={open}>
      <summary>
        <span className={`change ${file.change}`}>{file.change}</span>{" "}
        <code className="path">
          {file.was !== null && (
            <>
              <Shown text={file.was} line /> →{" "}
            </>
          )}
          <Shown text={file.path} line />
        </code>
        <span className="counts">
          <span className="good-text">+{file.added}</span> <span className="bad-text">−{file.removed}</span>
        </span>
      </summary>
      {file.binary && <p className="quiet">A binary file. Its bytes are in the patch but are not shown as text.</p>}
      {/* Long lines scroll, by keyboard too. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <div className="hunks" tabIndex={0}>
        <table>
          <tbody>
            {lines
              .filter((line) => !isSaid(line, file))
              .map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line's identity is its place
                <Line line={line} key={index} />
              ))}
          </tbody>
        </table>
      </div>
      {lines.length < file.lines.length && (
        <button type="button" className="small plain" onClick={() => setAll(true)}>
          Show the other {file.lines.length - lines.length} lines
        </button>
      )}
    </details>
  );
}

/** Header lines whose content stands above the lines already, and the encoded bytes of a binary file. */
function isSaid(line: PatchLine, file: PatchFile): boolean {
  return line.kind === "meta" && (file.binary || /^(diff --git |index [0-9a-f]+\.\.|--- |\+\+\+ )/.test(line.text));
}

const signs = { add: "+", remove: "−", same: " ", hunk: "", meta: "" } as const;
const signWords = { add: "added", remove: "removed", same: "", hunk: "", meta: "" } as const;

function Line({ line }: { readonly line: PatchLine }) {
  if (line.kind === "meta" || line.kind === "hunk")
    return (
      <tr className={line.kind}>
        <td colSpan={3} />
        <td>
          <Shown text={line.text} />
        </td>
      </tr>
    );
  return (
    <tr className={line.kind}>
      <td className="number">{line.old}</td>
      <td className="number">{line.new}</td>
      <td className="sign">
        <span aria-hidden="true">{signs[line.kind]}</span>
        <span className="unseen">{signWords[line.kind]}</span>
      </td>
      <td>
        <Shown text={line.text} />
      </td>
    </tr>
  );
}
