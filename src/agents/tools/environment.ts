/**
 * What every command of an agent finds in its environment, plan blocks too: git takes no folder of ordinary files
 * for a repository, and starts no watcher that one configures. [TOOL-21]
 */
const settings: readonly (readonly [name: string, value: string])[] = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
];

export const commandEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([name, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, name],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ),
};
