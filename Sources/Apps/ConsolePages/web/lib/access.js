// The operations that the API does not perform for every signed-in screen; `make api-description` writes this file.

/// "device": on the device itself alone. "vault": there, for a person who has the secret of its vault.
export const access = {
  "DELETE /circle/devices/{peer}": "device",
  "GET /account/agreement": "device",
  "POST /account/login": "device",
  "POST /account/logout": "device",
  "POST /account/reconnect": "device",
  "POST /account/register": "device",
  "POST /backup": "vault",
  "POST /backup/restore": "vault",
  "POST /circle/devices/{peer}": "vault",
  "POST /circle/devices/{peer}/expect": "vault",
  "POST /device/add": "vault",
  "POST /device/renew": "vault",
  "POST /device/request": "device",
  "POST /device/setup": "vault",
  "POST /keys/export": "vault",
  "POST /keys/import": "vault",
  "POST /keys/root": "device",
  "POST /lan/pairing": "device",
  "POST /recovery-phrase": "vault",
  "POST /recovery-phrase/restore": "vault",
  "PUT /lan": "device",
  "PUT /settings/{key}": "device",
};
