/** A policy as a person reads it: tools by what they may, then roles, argument rules, gates, and who decides. [WEB-60] */
import type { ReactNode } from "react";
import type { Policy } from "../../../src/domain/policy.ts";
import { Shown } from "../ui/shown.tsx";

const settings = [
  ["auto_approve", "Runs"],
  ["require_approval", "Asks"],
  ["deny", "Denied"],
] as const;

const approvalWords: Readonly<Record<string, string>> = {
  expires_after_s: "Expire after seconds",
  own_task: "One's own task",
  proof: "Proof needed",
};

export function PolicyTable({ policy }: { readonly policy: Policy }) {
  const { tools, roles, arguments: rules, gates, approvals } = policy;
  return (
    <>
      <Section id="tools" title="Tools" note="A tool that is named nowhere asks.">
        <Settings table={tools} />
      </Section>
      <Section
        id="roles"
        title="Roles"
        note="Trusted from most to least: mayor, deacon, crew, witness. A denial stands for all."
      >
        {Object.keys(roles).length === 0 && <p className="quiet">No role has settings of its own.</p>}
        {Object.entries(roles).map(([role, table]) => (
          <div className="policy-role" key={role}>
            <h3>{role}</h3>
            <Settings table={table} />
          </div>
        ))}
      </Section>
      <Section id="rules" title="Argument rules" note="Looked at first, whoever calls and whatever was granted.">
        <Rules
          rules={rules.map(({ id, effect, check, params }) => ({ id, does: effect, when: "any call", check, params }))}
        />
      </Section>
      <Section id="gates" title="Gates" note="Checks at fixed points of the work.">
        <Rules
          rules={gates.map(({ id, action, trigger, check, params }) => ({
            ...{ id, check, params },
            ...{ does: action, when: trigger.replaceAll("_", " ") },
          }))}
        />
      </Section>
      <Section id="approvals" title="Approvals" note="Who decides, and for how long a card waits.">
        <dl className="policy-settings">
          {Object.entries(approvals).map(([key, value]) => (
            <div key={key}>
              <dt>{approvalWords[key] ?? key.replaceAll("_", " ")}</dt>
              <dd>
                <Shown text={written(value)} line />
              </dd>
            </div>
          ))}
        </dl>
      </Section>
    </>
  );
}

function Section(props: {
  readonly id: string;
  readonly title: string;
  readonly note: string;
  readonly children: ReactNode;
}) {
  return (
    <section aria-labelledby={`policy-${props.id}`}>
      <h2 id={`policy-${props.id}`}>{props.title}</h2>
      <p className="quiet">{props.note}</p>
      {props.children}
    </section>
  );
}

function Settings({ table }: { readonly table: Policy["tools"] }) {
  return (
    <dl className="policy-settings">
      {settings.map(([setting, word]) => {
        const tools = Object.keys(table).filter((tool) => table[tool] === setting);
        if (tools.length === 0) return null;
        return (
          <div key={setting}>
            <dt className={`answer-${setting}`}>{word}</dt>
            <dd>
              <ul className="policy-tools">
                {tools.map((tool) => (
                  <li key={tool}>
                    <code>{tool === "*" ? "any other" : tool}</code>
                  </li>
                ))}
              </ul>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

interface Rule {
  readonly id: string;
  readonly does: string;
  readonly when: string;
  readonly check: string;
  readonly params: object;
}
function Rules({ rules }: { readonly rules: readonly Rule[] }) {
  if (rules.length === 0) return <p className="quiet">None.</p>;
  return (
    <ul className="policy-rules">
      {rules.map(({ id, does, when, check, params }) => (
        <li key={id}>
          <span className="policy-rule">
            <code>{id}</code> <strong>{does}</strong>
          </span>
          <span className="quiet">
            {when}: {check.replaceAll("_", " ")}
          </span>
          {Object.entries(params).map(([key, value]) => (
            <span className="quiet policy-params" key={key}>
              {key.replaceAll("_", " ")}: <Shown text={written(value)} line />
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}

/** Lists as their members; nothing at all as "none". */
function written(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(String).join(", ");
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => `${key}: ${written(inner)}`);
    return entries.length === 0 ? "none" : entries.join("; ");
  }
  return String(value);
}
