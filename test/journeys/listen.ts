/** A socket of the service as the page opens it: with a ticket, listening from the first frame on. */
import { z } from "zod";
import type { Client } from "../../src/cli/client.ts";
import { until } from "./road.ts";

export interface Listening {
  /** Text frames that have the shape, up to the one that is the last; then the socket is closed. */
  texts<T extends z.ZodType>(shape: T, last: (frame: z.infer<T>) => boolean): Promise<z.infer<T>[]>;
  /** All binary frames as one, once the service has said that there will be no more; then the socket is closed. */
  bytes(): Promise<Buffer>;
}

const ticket = z.object({ ticket: z.string() });
const exit = JSON.stringify({ type: "exit" });

export async function openSocket(client: Client, path: string, query: string, hello?: object): Promise<Listening> {
  const made = await client.post("/api/tickets", { path }, ticket);
  const socket = new WebSocket(`${client.url.replace(/^http/, "ws")}${path}?ticket=${made.ticket}${query}`);
  socket.binaryType = "arraybuffer";
  const texts: string[] = [];
  const parts: Buffer[] = [];
  socket.onmessage = ({ data }: { data: unknown }) => {
    if (typeof data === "string") texts.push(data);
    else if (data instanceof ArrayBuffer) parts.push(Buffer.from(data));
  };
  socket.onopen = () => {
    if (hello !== undefined) socket.send(JSON.stringify(hello));
  };
  return {
    async texts(shape, last) {
      const frames = () => texts.map((text) => shape.parse(JSON.parse(text)));
      const found = await until(`the last frame of ${path}`, async () => {
        const soFar = frames();
        const end = soFar.findIndex(last);
        return end < 0 ? null : soFar.slice(0, end + 1);
      });
      socket.close();
      return found;
    },
    async bytes() {
      await until(`the end of ${path}`, async () => (texts.includes(exit) ? true : null));
      socket.close();
      return Buffer.concat(parts);
    },
  };
}
