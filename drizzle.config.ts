import { defineConfig } from "drizzle-kit";

export default defineConfig({ dialect: "sqlite", schema: "./src/adapters/d1-schema.ts", out: "./migrations" });
