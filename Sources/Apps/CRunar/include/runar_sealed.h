/*
 * runar_sealed.h: sealed files, and messages that are sealed with one-time keys. The rules of runar.h hold here too.
 */
#ifndef RUNAR_SEALED_H
#define RUNAR_SEALED_H

#include "runar.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ sealed files */

/** Options of runar_nanotdf_seal(). Begin with RUNAR_SEAL_OPTIONS_INIT; 0 and NULL stand for the default of a field. */
typedef struct runar_seal_options {
    size_t size;                    /**< set by RUNAR_SEAL_OPTIONS_INIT: bytes of this struct in the program */
    uint32_t tag_bits;              /**< 64, 96, 104, 112, 120 or 128 bits of authentication; 0: 128 */
    bool hash_binding;              /**< bind the policy by a hash, which anyone can replace; false: by ECDSA */
    const char *signing_key;        /**< the private key that signs, in PEM; NULL: no signature */
} runar_seal_options;

/** The initializer of a runar_seal_options: its size, and the default of every other field. */
#define RUNAR_SEAL_OPTIONS_INIT {sizeof(runar_seal_options), 0, 0, 0}

/** Seals length bytes at data as a NanoTDF of version 12 that only the private half of recipient_key opens. Keys are PEM
 * texts on P-256, P-384 or P-521. More than 16 MiB become several parts, as `runar seal` writes them. options may be
 * NULL. Needs no node, and blocks while it computes. The result is freed with runar_data_result_free(); its error is
 * 5003 for a key or an option that cannot be used. */
runar_data_result *runar_nanotdf_seal(
    const char *recipient_key, const uint8_t *data, size_t length, const runar_seal_options *options);

/** Opens a NanoTDF, or the parts of a large one, with the private key that it was sealed to. With creator_key, a public
 * key in PEM or NULL, it must have the signature of that key. The plaintext is returned once all of it was verified. The
 * result is freed with runar_data_result_free(); its error is 2009 if it is authentic under neither key, 5002 if it is
 * no NanoTDF, 5003 for a key that cannot be used. */
runar_data_result *runar_nanotdf_open(
    const char *private_key, const char *creator_key, const uint8_t *data, size_t length);

/* ------------------------------------------------------------------------------------------------ one-time keys */

/* Each message between two devices has a key of its own, which is erased when the message is opened. A device answers
 * the exchanges of others from runar_node_start() on. A program in C carries the bytes of sealed messages itself, in a
 * request or an event: messages of `runar send --sealed` and of the console do not reach it. */

/** Exchanges pools of one-time keys with a connected peer, in both directions. The value is a JSON object with peerId,
 * state, suite, sendingKeys, sendingCapacity, receivingKeys, low, safetyNumber and verified, as in the HTTP API. 3002 if the
 * peer is not connected, 2010 if the exchange failed: earlier keys stay. */
void runar_node_exchange_keys(runar_node *node, const char *peer_id, runar_callback callback, void *context);

/** The value is a JSON array with such an object for each peer with whom keys were exchanged. */
void runar_node_get_key_relationships(runar_node *node, runar_callback callback, void *context);

/** Notes that a person compared the safety number with the one on the peer's screen. The digits, with or without spaces,
 * are those on that screen: 2011 if they differ from the ones of this device, 5003 if they are not 60, 2006 without keys. */
void runar_node_verify_keys(
    runar_node *node, const char *peer_id, const char *safety_number, runar_callback callback, void *context);

/** Deletes all one-time keys of this device and a peer. */
void runar_node_remove_keys(runar_node *node, const char *peer_id, runar_callback callback, void *context);

/** Seals length bytes at data, at most 1 044 480, to the next key of a peer. The use of the key is on the disk before the
 * callback gets the message. 2006 if no key is left. Does nothing without a callback. */
void runar_node_seal(
    runar_node *node, const char *peer_id, const uint8_t *data, size_t length, runar_data_callback callback,
    void *context);

/** Opens a message of a peer and erases its key, on the disk too, before the callback gets the plaintext. 2007 if it was
 * opened before, 2008 if the pool of its key was replaced, 2009 if it was changed, 5002 if it is no message, 2006 if no
 * keys were exchanged with the peer. Does nothing without a callback. */
void runar_node_open(
    runar_node *node, const char *peer_id, const uint8_t *data, size_t length, runar_data_callback callback,
    void *context);

#ifdef __cplusplus
}
#endif

#endif /* RUNAR_SEALED_H */
