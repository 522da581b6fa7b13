/** Every default of what joins the scope to others: webhooks out and in, the courier, GitHub. Part of `limits.ts`. */
export const githubLimits = {
  // --- outgoing webhooks

  webhooks_per_scope: 20,
  webhook_url_chars: 2_048,
  webhook_event_types: 50,
  /** Deliveries that are still to be made, all webhooks of a scope; past it the fullest webhook is disabled. */
  webhook_open: 10_000,
  /** Under way at once, of a scope and of one webhook: a slow receiver keeps the courier from nothing else. */
  webhook_under_way: 3,
  webhook_under_way_each: 2,
  /** One try: until its answer has come, what is read of the answer, what is kept of it. */
  webhook_post_ms: 10_000,
  webhook_answer_bytes: 4 * 1024,
  webhook_answer_chars: 500,
  /** Waits between the tries of one delivery; after the last it is dead. */
  webhook_retry_ms: [5_000, 30_000, 120_000, 600_000, 3_600_000, 4 * 3_600_000, 12 * 3_600_000],
  /** How long a receiver may send us away. */
  webhook_retry_after_max_ms: 3_600_000,
  /** A try that nobody told the end of by then is made again, under the same id. */
  webhook_lost_ms: 15 * 60_000,
  /** Nothing but failures for so long disables a webhook. */
  webhook_failing_ms: 3 * 86_400_000,
  /** How long a secret that was replaced signs along. */
  webhook_old_secret_ms: 86_400_000,
  /** Deliveries that came to an end stay so long and so many; forgotten in batches. */
  webhook_kept_ms: 30 * 86_400_000,
  webhook_kept: 20_000,
  webhook_pruned: 1_000,

  // --- hooks: tasks asked for from outside

  hooks_per_scope: 20,
  hook_body_bytes: 256 * 1024,
  /** How far the sender's clock may be off. */
  hook_tolerance_s: 300,
  /** Signatures of one request that are compared, and how long an id may be. */
  hook_signatures: 8,
  hook_message_id_chars: 128,
  hook_claims_kept_ms: 30 * 86_400_000,
  hook_claims_pruned: 1_000,
  hook_per_hour_max: 1_000,

  // --- GitHub's API

  /** One call until its answer has come, the answer, and how often it may send us on within the same origin. */
  github_call_ms: 15_000,
  github_answer_bytes: 2 * 1024 * 1024,
  github_redirects: 2,
  /** GitHub's own words in a failure. */
  github_failure_chars: 300,
  /** How long GitHub may send us away, the least, and how long when it does not say. */
  github_retry_after_max_ms: 3_600_000,
  github_retry_after_least_ms: 1_000,
  github_retry_after_unsaid_ms: 60_000,
  /** Tokens kept in memory, and how long before its end one is no longer used. */
  github_tokens_kept: 1_000,
  github_token_early_ms: 5 * 60_000,
  /** A revocation that takes longer is left to the token's own end. */
  github_revoke_ms: 5_000,
  /** A page of what holds people's texts (65,536 characters each) is short, so that nobody can make it too long to read. */
  github_texts_page: 20,
  github_texts_bytes: 8 * 1024 * 1024,
  github_page: 100,
  /** Pages that are read: an issue has 2,500 comments at most, a commit 1,000 check runs; an installation's repositories. */
  github_comment_pages: 126,
  github_check_pages: 50,
  github_repository_pages: 50,

  // --- the courier: what it asks of GitHub and shows there

  courier_runs: 4,
  /** One wait for GitHub; all waits of one happening, then it is a dead letter; of one showing, then it is told as failed. */
  github_wait_first_ms: 1_000,
  github_wait_max_ms: 15 * 60_000,
  github_event_wait_ms: 24 * 3_600_000,
  github_sync_wait_ms: 3_600_000,
  /** People of one happening whose permission is asked. */
  github_people: 10,
  /** Why something does not stand on GitHub. How often what was just found may be gone again. */
  github_failed_chars: 1_000,
  github_gone: 3,
  /** A body, a summary or a text there, as UTF-8: GitHub takes 65,535 characters. */
  github_text_bytes: 65_000,
  /** Of a text from people or models, as it is written there: a line, a paragraph and its lines, a list, a title. */
  github_line_bytes: 600,
  github_paragraph_bytes: 6_000,
  github_paragraph_lines: 60,
  github_items: 60,
  github_pull_title_chars: 200,
  /** Columns of a line of a plan: what is longer goes on below. */
  github_plan_columns: 100,
  /** Checks that are shown, and the end of what all of them and of what each of them printed. */
  github_checks: 20,
  github_outputs_bytes: 40_000,
  github_output_bytes: 8_000,

  // --- the runtime: what GitHub asked for, and where it is shown

  /** GitHub is answered after so long at the latest once its delivery is claimed, whatever has left by then. */
  github_answer_ms: 400,
  /** Delivery ids stay claimed so long, far past GitHub's last redelivery; forgotten in batches. */
  github_delivery_kept_ms: 30 * 86_400_000,
  /** Of a wish: what was signed once could else be sent again and make a task. */
  github_wish_kept_ms: 2 * 365 * 86_400_000,
  github_deliveries_pruned: 1_000,
  /** Of what somebody asked who may not: past GitHub's three days. So many in an hour go on record; all are counted. */
  github_refused_kept_ms: 7 * 86_400_000,
  github_refused_recorded: 100,
  /** An event on its way to the courier; texts that make it bigger are cut to the first of these that fits. */
  github_event_bytes: 768 * 1024,
  github_event_cuts: [50_000, 20_000, 5_000, 1_000],
  /** Of a task made there: its words, its title, its labels; hidden parts that its cards show. */
  github_task_chars: 20_000,
  github_title_chars: 200,
  github_task_labels: 20,
  github_label_chars: 60,
  github_card_hidden: 20,
  /** Tasks that failed checks of one branch make. */
  github_check_tasks: 3,
  /** Beginning of a content hash that names a card. */
  github_hash_chars: 12,
  /** Between two looks of one task at GitHub; after a failed one the wait doubles; one that nobody told the end of by then is lost. */
  github_sync_gap_ms: 3_000,
  github_sync_first_retry_ms: 10_000,
  github_sync_max_retry_ms: 600_000,
  github_sync_lost_ms: 25 * 3_600_000,
  github_sync_batch: 20,
  /** In a thread without a task one comment of ours is answered with at most, in so long: whoever answers us is not kept going. */
  github_answer_again_ms: 3_600_000,
  /** Why a task cannot be decided there, tasks that it names, and what of each check's output is shown. */
  github_note_chars: 1_000,
  github_named_tasks: 10,
  /** Plans of a task that were handed out to be shown, as far as they are remembered: one, or several. */
  github_offered: 2,
  github_check_chars: 4_000,
  github_checks_shown: 20,

  // --- GitHub's door: what a webhook may bring, and how much of it goes further

  github_hook_body_bytes: 25 * 1024 * 1024,
  /** Secrets of one App at once: the one in force and the one before it. */
  github_hook_secrets: 2,
  /** Accounts and bots a repository's triggers name. */
  github_trigger_names: 50,
  /** Of a text that somebody wrote there: as long as GitHub takes one. Two of them fit into a message, however escaped. */
  github_text_chars: 65_536,
  github_reason_chars: 10_000,
  /** A comment that is read as a command: a longer one is answered with how to write it. */
  github_command_chars: 24_000,
  /** A whole comment that is answered although it is no command. Letters of a wish in a writing that parts no words. */
  github_meant_chars: 300,
  github_unspaced_wish: 12,
  /** Of the path that a review comment speaks of. */
  github_path_chars: 300,
  github_labels: 100,
  /** Pull requests of one check that are looked at. */
  github_check_pulls: 10,
  /** Hidden parts of a text that the approver is shown, and how much of each. */
  github_hidden_parts: 50,
  github_hidden_chars: 1_000,
  /** Characters looked at while marks are matched; a text that takes more is hidden from there on. */
  github_scan_chars: 2_000_000,
  /** An address in it longer than this is not for following. */
  github_address_chars: 500,
  /** The page that is made of it to judge by; a text that is more is not read at all. Depths past these are not seen. */
  github_page_chars: 65_536,
  github_page_lines: 4_000,
  github_page_marks: 6_000,
  github_page_code_marks: 16_000,
  github_page_nodes: 10_000,
  github_page_tokens: 20_000,
  github_page_html_chars: 200_000,
  github_page_depth: 100,
  github_page_small: 3,
  github_page_aside: 12,
  /** Columns of code in sight, and blanks behind which nobody looks for more. */
  github_code_columns: 120,
  github_code_blanks: 40,
  /** Words between which the page's are looked for again in the source, and seen ones that one hidden part spans. */
  github_page_search: 64,
  github_page_gap: 3,

  // --- installations and lost deliveries

  /** Installations asked about, and repositories their scopes are told of, at one alarm; how long one scope may take. */
  github_installations_at_once: 5,
  github_tells_at_once: 50,
  github_tell_ms: 10_000,
  /** Waits after a failure, doubling. */
  github_link_retry_ms: 10_000,
  github_link_retry_max_ms: 15 * 60_000,
  /** Each installation is looked at again after this long, whatever events came. */
  github_look_again_ms: 3_600_000,
  /** Ids of installation events are kept so long, and forgotten in batches; words that are counted. */
  github_installation_claims_ms: 30 * 86_400_000,
  github_installation_claims_pruned: 1_000,
  github_ignored_words: 200,
  /** GitHub brings again what is at most three days old. Waits between the tries of one delivery; the last is every later one's. */
  github_redelivery_days_ms: 3 * 86_400_000,
  github_redelivery_waits_ms: [5 * 60_000, 15 * 60_000, 3_600_000, 4 * 3_600_000, 8 * 3_600_000],
  /** At one look: deliveries asked for, failures until it ends, pages read. Tries that are known at once, of which GitHub lists a hundred a page. */
  github_redeliveries: 100,
  github_redelivery_failures: 5,
  github_redelivery_pages: 60,
  github_redelivery_kept: 60_000,
  github_redelivery_every_ms: 5 * 60_000,
  /** Of why GitHub cannot be asked. Installations that are named as not to be read. */
  github_redelivery_why_chars: 500,
  github_troubles: 20,

  // --- making the App from the command line

  /** Until somebody came back from GitHub; one call, its answer, and how often it is made. */
  github_setup_ms: 10 * 60_000,
  github_setup_call_ms: 15_000,
  github_setup_answer_bytes: 256 * 1024,
  github_setup_tries: 3,
} as const;
