// oidc-provider on PostgreSQL: `node oidc.mjs PORT TOKENS`, with DATABASE_URL; prints the access tokens that it made as a
// line of JSON once it listens. One process; the client that asks is one of the configuration, as in its own examples.
import Provider from 'oidc-provider';
import pg from 'pg';

const [port, wanted] = process.argv.slice(2).map(Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });

const statement = (name, text) => (...values) => pool.query({ name, text, values });
const put = statement(
  'put',
  `INSERT INTO oidc_payloads (kind, id, payload, expires_at)
   VALUES ($1, $2, $3, now() + $4 * interval '1 second')
   ON CONFLICT (kind, id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at`,
);
const byId = statement(
  'by_id',
  'SELECT payload FROM oidc_payloads WHERE kind = $1 AND expires_at > now() AND id = $2',
);

// as much of an adapter as introspection calls
class PostgreSQL {
  constructor(kind) {
    this.kind = kind;
  }

  async upsert(id, payload, expiresIn) {
    await put(this.kind, id, payload, expiresIn);
  }

  async find(id) {
    return (await byId(this.kind, id)).rows[0]?.payload;
  }
}

await pool.query(`CREATE TABLE IF NOT EXISTS oidc_payloads (
  kind text, id text, payload jsonb NOT NULL, expires_at timestamptz, PRIMARY KEY (kind, id))`);

const provider = new Provider(`http://localhost:${port}`, {
  adapter: PostgreSQL,
  clients: [
    {
      client_id: 'bench',
      client_secret: 'bench-secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  cookies: { keys: ['bench'] },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    introspection: { enabled: true },
  },
  ttl: { AccessToken: 86400, Grant: 86400 },
});

const client = await provider.Client.find('bench');
const tokens = [];
for (let number = 0; number < wanted; number += 1) {
  const accountId = `person${number}`;
  const grant = new provider.Grant({ accountId, clientId: 'bench' });
  grant.addOIDCScope('openid');
  const token = new provider.AccessToken({
    accountId, client, grantId: await grant.save(), gty: 'authorization_code', scope: 'openid',
  });
  tokens.push(await token.save());
}
await pool.query('ANALYZE oidc_payloads');
provider.listen(port, '127.0.0.1', () => process.stdout.write(`${JSON.stringify(tokens)}\n`));
