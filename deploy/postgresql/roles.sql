-- The least rights of the web and worker processes, on PostgreSQL. Run it as the owner of the tables after
-- every `migrate`; again it changes nothing:
--
--   psql --set=role=consent_app --file=deploy/postgresql/roles.sql "$OWNERS_DATABASE_URL"
--
-- It makes the role where there is none, and <role>_log for the sequencer of the public log (the last part below),
-- both without a password: give them one with \password. DATABASE_URL of the processes names their role; `migrate` keeps
-- the owner's. What the lists below leave out is refused by triggers too, for everybody.
\set ON_ERROR_STOP on
SELECT format('CREATE ROLE %I LOGIN', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
BEGIN;

-- nobody but the owner makes tables, which could stand in the way of ours
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM :"role";
GRANT USAGE ON SCHEMA public TO :"role";
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO :"role";

-- what is only ever added to
REVOKE UPDATE ON
    consent_audit, audit_facts, audit_chains, consent_receipts, consent_notices,
    consent_log_queue, consent_log_leaves, consent_log_tiles, consent_log_state, consent_audit_checkpoints,
    agent_calls, app_people, pkm_events, django_admin_log
FROM :"role";
-- of the log only its queue: the sequencer alone writes the rest, under the second role below
REVOKE INSERT ON consent_log_leaves, consent_log_tiles, consent_log_state, consent_audit_checkpoints FROM :"role";
-- an entry that waits to be written goes when it is, and does not change until then
REVOKE UPDATE ON audit_pending FROM :"role";
-- a read is chained once, and nothing else of it changes
REVOKE UPDATE ON consent_reads FROM :"role";
GRANT UPDATE (batch) ON consent_reads TO :"role";
-- an app's name for a person stays; that it names nobody any more is said beside it
GRANT UPDATE (ended_at) ON app_people TO :"role";
-- what `migrate` and `sync_registry` alone write, which the owner runs
REVOKE INSERT, UPDATE ON django_migrations, django_content_type, auth_permission, pkm_starter_records FROM :"role";

-- what the old system left; `import_legacy` alone adds to it, which the owner runs
REVOKE INSERT ON legacy_encrypted_blobs, legacy_metadata_index FROM :"role";
REVOKE UPDATE ON legacy_encrypted_blobs, legacy_metadata_index FROM :"role";

-- what people take back, what ends with a session, what has been written down since, and what is tidied away when its
-- time is over: a read or a notice not before it is a year old, which triggers see to
GRANT DELETE ON
    account_emailaddress, account_emailconfirmation, agent_calls, analysis_runs, analysis_steps, app_logos,
    app_members, audit_pending, auth_group, auth_group_permissions, blocked_apps, cache_entries, connections,
    consent_mails, consent_notices, consent_reads, corrections, deletions, developer_tokens, directory_finds,
    discovery_log, hidden_scopes, idempotency_keys, legacy_encrypted_blobs, legacy_metadata_index,
    marketplace_public_profiles, message_opt_outs, mfa_authenticator, oauth_clients, oauth_secrets, outbound_messages,
    outgoing_mails, outgoing_pushes, phone_numbers, pkm_blobs, pkm_index, pkm_manifest_paths, pkm_manifests,
    published_connector_keys, push_subscriptions, rate_counts, released_handles, request_log, sandbox_people,
    security_changes, sessions, sharing_ids, user_photos, users_groups, users_user_permissions, vault_key_wrappers,
    vault_keys, vault_notes, vault_resets, vault_rotation_wrappers, webhook_deliveries, webhook_endpoints
TO :"role";

-- What erasing a person takes out of tables that nobody may delete from: each function looks for an erasure that is
-- due before it does anything, and takes away the rows of that person alone.
REVOKE UPDATE ON erasures FROM :"role";
GRANT UPDATE (undo_digest, cancelled_at, done_at) ON erasures TO :"role";
-- The server asks in a person's name, and then at least a day passes; at once erases only who runs `erase_person` as the
-- owner, for whom policies do not count.
ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;
SELECT format('DROP POLICY IF EXISTS %1$I ON erasures; CREATE POLICY %1$I ON erasures TO %2$I USING (true) WITH CHECK (true);'
    'DROP POLICY IF EXISTS %3$I ON erasures; CREATE POLICY %3$I ON erasures AS RESTRICTIVE FOR INSERT TO %2$I WITH CHECK ('
    'asked_by = ''person'' AND due_at > clock_timestamp() + interval ''23 hours'')',
    :'role' || '_all', :'role', :'role' || '_waits') \gexec
GRANT EXECUTE ON FUNCTION
    erase_account_rows(bigint), erase_agents_rows(bigint), erase_consent_rows(bigint), erase_developer_rows(bigint),
    erase_vault_rows(bigint)
TO :"role";

-- The sequencer of the public log (`manage.py sequence_log`): of entries it sees key and hash, it empties the queue and
-- adds to the log. It reads nothing about people, and begins no tree anew.
SELECT format('CREATE ROLE %I LOGIN', :'role' || '_log')
    WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role' || '_log') \gexec
SELECT :'role' || '_log' AS log_role \gset
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM :"log_role";
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM :"log_role";
GRANT USAGE ON SCHEMA public TO :"log_role";
GRANT SELECT (id, entry_hash) ON consent_audit TO :"log_role";
GRANT SELECT ON consent_log_queue, consent_log_leaves, consent_log_tiles, consent_log_state,
    consent_audit_checkpoints TO :"log_role";
GRANT DELETE ON consent_log_queue TO :"log_role";
GRANT INSERT ON consent_log_leaves, consent_log_tiles, consent_audit_checkpoints TO :"log_role";
GRANT UPDATE (size, frontier, signed, at) ON consent_log_state TO :"log_role";
GRANT UPDATE (cosignatures, cosigned_at) ON consent_audit_checkpoints TO :"log_role";
COMMIT;
