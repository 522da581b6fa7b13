/** What signing lets happen, item by item and verbatim; what is not granted is said too. [WEB-5] */
import type { ApprovalView } from "../api/queries.ts";
import { Hash } from "../ui/hash.tsx";
import { Pre } from "../ui/pre.tsx";
import { Shown } from "../ui/shown.tsx";

type CardItem = ApprovalView["card"]["items"][number];
type Surroundings = NonNullable<ApprovalView["card"]["environment"]>;

export function Grants({ items }: { readonly items: readonly CardItem[] }) {
  return (
    <section aria-label="What approving grants" className="grants">
      <h2>What approving grants</h2>
      <p className="quiet">
        This and nothing more. What an item does not name is refused, or asked about when it comes up.
      </p>
      <ol className="items">
        {items.map((item) => (
          <Item item={item} key={item.id} />
        ))}
      </ol>
    </section>
  );
}

function Item({ item }: { readonly item: CardItem }) {
  const excepted = item.protect.flatMap((glob) => (glob.startsWith("!") ? [glob.slice(1)] : []));
  return (
    <li className="item">
      <h3>
        <Shown text={item.title} />
        <code className="item-id">
          <Shown text={item.id} />
        </code>
      </h3>
      <dl className="granted">
        <Row name="Tools" values={item.grants.tools} none="none" />
        <Row name="May change" values={item.grants.paths} none="no file" />
        <Row
          name="Commands"
          values={item.grants.commands}
          none={item.steps.length > 0 ? "only the steps below" : "none"}
        />
        <Row name="Network" values={item.grants.hosts} none="closed" loud />
        <Row name="Secrets" values={item.grants.secrets} none="none" loud />
        <Row
          name="Must not touch, whatever it may change"
          values={item.protect.filter((glob) => !glob.startsWith("!"))}
          none="nothing is protected"
          foldAfter={8}
        />
        {excepted.length > 0 && <Row name="Of those it may change" values={excepted} none="" loud />}
        <Row name="Checked by" values={checksOf(item)} none="no check: one success is done" />
        {item.depends_on.length > 0 && <Row name="After" values={item.depends_on} none="" />}
        <div>
          <dt>Runs as</dt>
          <dd>
            <Shown text={item.runner} />, at most {item.max_attempts} {item.max_attempts === 1 ? "attempt" : "attempts"}
          </dd>
        </div>
        {item.preset !== undefined && (
          <Row name="Preset" values={[item.preset]} none="" loud={item.preset === "PERMISSIVE"} />
        )}
        <Thinking item={item} />
        <div>
          <dt>Item hash</dt>
          <dd>
            <Hash value={item.item_hash} label="item_hash" />
          </dd>
        </div>
      </dl>
      {item.steps.length > 0 && <Steps steps={item.steps} />}
      {item.section !== undefined && <Briefing text={item.section} />}
    </li>
  );
}

function checksOf({ verify, verify_timeouts_s = [] }: CardItem): string[] {
  return verify.map((argv, index) => {
    const most = verify_timeouts_s[index];
    return most === undefined ? commandLine(argv) : `${commandLine(argv)} (at most ${most} s)`;
  });
}

/** Absent for items that run steps, and on cards of before it was kept. */
function Thinking({ item }: { readonly item: CardItem }) {
  const { budget, skills = [], on_stuck, touches = [] } = item;
  if (budget === undefined) return null;
  const own = [
    ...(budget.tokens === null ? [] : [`${budget.tokens.toLocaleString("en")} tokens`]),
    ...(budget.usd === null ? [] : [budget.usd === 0 ? "no limit in dollars" : `$${budget.usd}`]),
    ...(budget.minutes === null ? [] : [`${budget.minutes} min`]),
  ];
  return (
    <>
      <Row name="May spend" values={own} none="its share of the plan's budget" />
      {touches.length > 0 && <Row name="Its model is given" values={touches} none="" />}
      {skills.length > 0 && <Row name="Skills" values={skills} none="" />}
      {on_stuck !== undefined && (
        <div>
          <dt>When stuck</dt>
          <dd>
            <Shown text={on_stuck.replace("_", " ")} />
          </dd>
        </div>
      )}
    </>
  );
}

function Briefing({ text }: { readonly text: string }) {
  return (
    <div className="steps">
      <h4>What its model is told, word for word</h4>
      <Pre>
        <Shown text={text === "" ? "its title and nothing more" : text} />
      </Pre>
    </div>
  );
}

function Steps({ steps }: { readonly steps: readonly string[] }) {
  return (
    <div className="steps">
      <h4>Steps, run as written and in this order</h4>
      <ol>
        {steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step's identity is its place
          <li key={index}>
            <Pre>
              <Shown text={step} />
            </Pre>
          </li>
        ))}
      </ol>
    </div>
  );
}

interface RowProps {
  readonly name: string;
  readonly values: readonly string[];
  /** What an empty list means, in words. */
  readonly none: string;
  /** Granting this deserves a second look. */
  readonly loud?: boolean;
  /** How many stand in the open. Only what restricts may be folded, never what is granted. */
  readonly foldAfter?: number;
}

function Row({ name, values, none, loud, foldAfter = values.length }: RowProps) {
  const folded = values.slice(foldAfter);
  return (
    <div className={loud && values.length > 0 ? "loud" : undefined}>
      <dt>{name}</dt>
      <dd>
        {values.length === 0 ? <span className="quiet">{none}</span> : <Words values={values.slice(0, foldAfter)} />}
        {folded.length > 0 && (
          <details className="folded">
            <summary>and {folded.length} more</summary>
            <Words values={folded} />
          </details>
        )}
      </dd>
    </div>
  );
}

function Words({ values }: { readonly values: readonly string[] }) {
  return (
    <ul className="words">
      {values.map((value, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same words may stand there twice
        <li key={index}>
          <code>
            <Shown text={value} line />
          </code>
        </li>
      ))}
    </ul>
  );
}

/** Before every attempt and verification; with the network open to the named hosts, then cut. */
export function Environment({ environment }: { readonly environment: Surroundings }) {
  const { setup, hosts, cache } = environment;
  if (setup.length === 0 && hosts.length === 0 && cache.length === 0) return null;
  return (
    <section aria-label="Prepared before every attempt">
      <h2>Prepared before every attempt</h2>
      <dl className="granted">
        <Row name="Runs" values={setup.map(commandLine)} none="nothing" />
        <Row name="Network then" values={hosts} none="closed" loud />
        {cache.length > 0 && <Row name="Caches" values={cache} none="none" />}
      </dl>
    </section>
  );
}

/** Words of a command as one line; a word with anything but plain characters in it is quoted, so that words stay apart. */
export function commandLine(argv: readonly string[]): string {
  return argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ");
}
