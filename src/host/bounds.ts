/** Everything the host holds itself to that is no setting of the product. Units stand last in each name. */
export const bounds = {
  body_bytes: 96 * 1024 * 1024,
  output_chunk_bytes: 64 * 1024,
  output_call_bytes: 8 * 1024 * 1024,
  patch_bytes: 10 * 1024 * 1024,
  /** Changed files larger than this in sum are never hashed: their patch could not be small enough. */
  changed_bytes: 256 * 1024 * 1024,
  bundle_bytes: 64 * 1024 * 1024,
  file_read_bytes: 16 * 1024 * 1024,
  list_entries: 10_000,
  sandboxes: 256,
  ptys_per_scope: 16,
  git_local_ms: 120_000,
  git_network_ms: 300_000,
  file_operation_ms: 20_000,
  kill_ms: 5_000,
  tmpfs_bytes: 1024 * 1024 * 1024,
  git_memory_mb: 4096,
  proxy_connections: 256,
  proxy_connect_ms: 20_000,
  disk_poll_ms: 2_000,
  /** A survey of the work trees is made when free space fell by this much, or once a minute. */
  disk_step_bytes: 256 * 1024 * 1024,
  disk_survey_ms: 60_000,
  disk_floor_bytes: 1024 * 1024 * 1024,
} as const;
