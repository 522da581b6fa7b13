/** A text area with line numbers, and the problems of the text beside them; a problem leads to its place. [WEB-12] */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Shown } from "../ui/shown.tsx";

export interface PlanProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

interface EditorProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly problems: readonly PlanProblem[];
  readonly children?: ReactNode;
}

export function PlanEditor({ value, onChange, problems, children }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const lines = value.split("\n").length;
  const bad = new Set(problems.map((problem) => problem.line));
  useEffect(() => {
    if (problems.length > 0) first.current?.focus();
  }, [problems]);

  const goTo = (problem: PlanProblem): void => {
    const before = value.split("\n").slice(0, problem.line - 1);
    const at = before.reduce((sum, line) => sum + line.length + 1, 0) + problem.column - 1;
    area.current?.focus();
    area.current?.setSelectionRange(at, at);
  };
  return (
    <div className="plan-editor">
      <div className="plan-bar">
        <label htmlFor="plan">Plan (optional)</label>
        {children}
      </div>
      <p id="plan-note" className="quiet">
        Markdown with front matter. Without one, a planner model must be configured.
      </p>
      <div className="editor">
        <div className="gutter" aria-hidden="true">
          <div style={{ transform: `translateY(${-scrollTop}px)` }}>
            {Array.from({ length: Math.max(lines, 12) }, (_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line's identity is its number
              <div className={bad.has(index + 1) ? "bad-line" : undefined} key={index}>
                {index + 1}
              </div>
            ))}
          </div>
        </div>
        <textarea
          id="plan"
          ref={area}
          rows={12}
          wrap="off"
          spellCheck={false}
          value={value}
          aria-describedby="plan-note plan-problems"
          aria-invalid={problems.length > 0}
          onChange={(event) => onChange(event.target.value)}
          onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
        />
      </div>
      <div id="plan-problems" role="alert">
        {problems.length > 0 && (
          <>
            <p className="bad-text">
              {problems.length === 1 ? "One problem" : `${problems.length} problems`} in the plan. Nothing was created.
              Correct {problems.length === 1 ? "it" : "them"} and send again.
            </p>
            <ul className="problems">
              {problems.map((problem, index) => (
                <li key={`${problem.line}:${problem.column} ${problem.message}`}>
                  <button
                    type="button"
                    className="small plain"
                    ref={index === 0 ? first : undefined}
                    onClick={() => goTo(problem)}
                  >
                    line {problem.line}, column {problem.column}
                  </button>{" "}
                  <Shown text={problem.message} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </div>
  );
}
