/**
 * HMAC SHA-256 over the very bytes that came, compared by the platform in constant time. The webhook library at hand takes
 * text, and bytes that are no text would then be signed as something else. [GHI-31]
 */

/** Every secret is tried, so that the time taken does not tell which one fits. `signature` is 64 hexadecimal digits. */
export async function signedByOne(secrets: readonly string[], signature: string, bytes: Uint8Array): Promise<boolean> {
  const given = Uint8Array.from(signature.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  const fits = await Promise.all(
    secrets.map(async (secret) => {
      const raw = new TextEncoder().encode(secret);
      const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
      return crypto.subtle.verify("HMAC", key, given, bytes);
    }),
  );
  return fits.includes(true);
}
