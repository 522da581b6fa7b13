/** git as these scripts run it: no configuration but what stands here, and no question asked at a terminal. */
export function safeGitEnv(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "Countersign sample",
    GIT_AUTHOR_EMAIL: "sample@countersign.invalid",
    GIT_COMMITTER_NAME: "Countersign sample",
    GIT_COMMITTER_EMAIL: "sample@countersign.invalid",
  };
}
