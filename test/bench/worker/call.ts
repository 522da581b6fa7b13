/** `POST /<namespace>/<object>/<method>` calls that method of that object with the body. */

type Namespaces = Readonly<Record<string, Pick<DurableObjectNamespace, "getByName">>>;

export async function call(request: Request, namespaces: Namespaces): Promise<Response> {
  const [, kind = "", object = "", method = ""] = new URL(request.url).pathname.split("/");
  // Only the programs of this folder call it, by names that are there: no door of the product is so open.
  const stub = namespaces[kind]?.getByName(object) as unknown as Methods | undefined;
  if (stub === undefined) return new Response(`no namespace ${kind}`, { status: 404 });
  const answer = await stub[method]?.(await request.json());
  return Response.json(answer ?? null);
}
type Methods = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;
