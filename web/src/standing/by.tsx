/** Who decided a card: a person, or a standing approval, which leads to its bounds. [WEB-69] */
import { standingOfSubject } from "../../../src/domain/standing-subject.ts";
import { Link } from "../route.tsx";
import { Shown } from "../ui/shown.tsx";

export function DecidedBy({ subject }: { readonly subject: string }) {
  const id = standingOfSubject(subject);
  if (id === null) return <Shown text={subject} />;
  return <Link to={`/standing/${encodeURIComponent(id)}`}>a standing approval</Link>;
}
