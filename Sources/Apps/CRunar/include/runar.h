/*
 * runar.h: private networks of your own devices, for programs in C and languages that can call C. Sealed files and
 * messages are in runar_sealed.h, people and conversations in runar_circle.h.
 *
 * A node is one device in its owner's networks. It asks services of other devices and offers its own, publishes events
 * and follows those of others. Every call that takes time is started by a function and ended by a callback.
 *
 *   Handles     runar_node, runar_service and runar_request are numbers in the shape of pointers, with nothing behind
 *               them. One that was freed, never made or of another kind is refused with RUNAR_ERROR_NULL_ARGUMENT;
 *               freeing it again or freeing NULL does nothing. No number is used twice in a process.
 *   Threads     Every function may be called on any thread at any time, in callbacks too. Callbacks come on threads of
 *               the library, never inside the call that asked for them, perhaps before it returned, and several
 *               concurrently. They must not wait for long: pass long work to a thread of yours, because while all the
 *               library's threads (one for each processor) wait in callbacks, nothing else goes on.
 *   Callbacks   Each takes the context pointer that it was registered with, which the library never looks at. One
 *               of type runar_callback or runar_data_callback is called exactly once, whatever happens. After
 *               runar_node_free() returned to a caller that was not in a callback itself, no callback of that node is
 *               running or will run, so that contexts can be freed then at the latest.
 *   Memory      What is passed to a function is copied before it returns. What is passed to a callback lives until the
 *               callback returns, except a runar_data_result, which the callback takes over. What a function returns
 *               belongs to the caller, who frees it with the function that its documentation names; freeing it
 *               again is harmless as long as nothing else was returned meanwhile.
 *   Texts       UTF-8 with a zero at the end; anything else is refused with RUNAR_ERROR_INVALID_TEXT. Ids of peers and
 *               networks are given out in base64 and taken in any of their text forms.
 *   Errors      Functions that can fail at once take a place for an error as their last argument, which may be NULL; on
 *               failure they put an error there that the caller frees, otherwise NULL. See enum runar_error_code.
 *   Versions    Structs begin with their size, so that a program and a library of different versions understand each
 *               other: fill one in with its initializer, and never embed one of the library's in something of yours.
 */
#ifndef RUNAR_H
#define RUNAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Goes up when a function or field is added; a function or field that exists never changes its meaning. */
#define RUNAR_ABI_VERSION 4

/** The RUNAR_ABI_VERSION of the library that was loaded. Any thread. */
uint32_t runar_abi_version(void);

/* ------------------------------------------------------------------------------------------------ errors */

/** What an error is about. Thousands are areas, so that code / 1000 tells them apart; numbers from 10 000 are for
 * failures of your own services, see runar_request_fail(). */
enum runar_error_code {
    RUNAR_ERROR_IO = 1000,                  /**< a file could not be read or written */
    RUNAR_ERROR_STORAGE = 1001,             /**< the database could not be read or written */
    RUNAR_ERROR_KEYCHAIN = 2000,            /**< the keys could not be read or stored */
    RUNAR_ERROR_KEY_DENIED = 2001,          /**< the person did not release a key */
    RUNAR_ERROR_WRONG_SECRET = 2002,        /**< the passphrase or key file is wrong */
    RUNAR_ERROR_UNSUPPORTED = 2003,         /**< this system cannot guard keys as was asked */
    RUNAR_ERROR_IN_USE = 2004,              /**< another process, or a node just freed, uses the keys */
    RUNAR_ERROR_DAMAGED = 2005,             /**< the stored keys are damaged */
    RUNAR_ERROR_NO_ONE_TIME_KEYS = 2006,    /**< this device has no one-time keys of the peer: exchange keys */
    RUNAR_ERROR_ONE_TIME_KEY_USED = 2007,   /**< the key of the message was used, and erased */
    RUNAR_ERROR_ONE_TIME_KEY_NOT_FOUND = 2008, /**< the key of the message is in no pool of this device */
    RUNAR_ERROR_NOT_AUTHENTIC = 2009,       /**< sealed bytes were changed, or are for another key */
    RUNAR_ERROR_KEY_EXCHANGE_FAILED = 2010, /**< an exchange of one-time keys failed; it can be repeated */
    RUNAR_ERROR_WRONG_SAFETY_NUMBER = 2011, /**< the digits are not those of the safety number */
    RUNAR_ERROR_NETWORK = 3000,             /**< something on the network failed */
    RUNAR_ERROR_NO_ADDRESS = 3001,          /**< no address of the peer is known */
    RUNAR_ERROR_UNREACHABLE = 3002,         /**< the peer could not be reached */
    RUNAR_ERROR_NOT_A_MEMBER = 3003,        /**< this device is no member of the network */
    RUNAR_ERROR_REFUSED = 3004,             /**< a peer refused */
    RUNAR_ERROR_TIMED_OUT = 3005,           /**< a peer did not answer in time */
    RUNAR_ERROR_INTERRUPTED = 3006,         /**< the connection broke */
    RUNAR_ERROR_NOT_RUNNING = 3007,         /**< the node is not running */
    RUNAR_ERROR_BAD_TOKEN = 3008,           /**< an access token is not valid */
    RUNAR_ERROR_TOO_MANY_PEERS = 3009,      /**< the limit of connected peers is reached */
    RUNAR_ERROR_NOT_STORED = 3010,          /**< the peer agreed to take a file and could not store it */
    RUNAR_ERROR_NO_SERVICE = 4001,          /**< no reachable peer offers the service */
    RUNAR_ERROR_NO_ACTION = 4002,           /**< the service has no such action */
    RUNAR_ERROR_SERVICE_NOT_RUNNING = 4003, /**< the service is paused or stopped */
    RUNAR_ERROR_DEADLINE = 4004,            /**< the request exceeded its time limit */
    RUNAR_ERROR_CANCELLED = 4005,           /**< the request was cancelled */
    RUNAR_ERROR_HANDLER_FAILED = 4006,      /**< the handler failed with an error of its own */
    RUNAR_ERROR_BUSY = 4007,                /**< the provider has too many requests in progress */
    RUNAR_ERROR_TOO_LARGE = 4008,           /**< the request or the answer is too large */
    RUNAR_ERROR_BAD_PAYLOAD = 4009,         /**< the handler could not read the payload */
    RUNAR_ERROR_ENCODING = 5001,            /**< a value could not be encoded */
    RUNAR_ERROR_DECODING = 5002,            /**< an answer could not be decoded */
    RUNAR_ERROR_INVALID_PARAMETERS = 5003,  /**< parameters are missing or wrong */
    RUNAR_ERROR_INVALID_TEXT = 5004,        /**< a text is not UTF-8 */
    RUNAR_ERROR_NULL_ARGUMENT = 5005,       /**< an argument is NULL, or a handle is not one */
    RUNAR_ERROR_INVALID_PATH = 5006,        /**< a path or topic is malformed */
    RUNAR_ERROR_NO_PROFILE = 6001,          /**< this device's person has no profile: set one first */
    RUNAR_ERROR_OWN_CARD = 6002,            /**< the card is that of this device's person */
    RUNAR_ERROR_UNKNOWN_PERSON = 6003,      /**< the circle does not contain the person */
    RUNAR_ERROR_NOT_TRUSTED = 6004,         /**< the two people do not trust each other */
    RUNAR_ERROR_UNKNOWN = 9999              /**< the cause is unknown */
};

/** A failure. message describes it, context names its subject (a path, a peer, a file) or is empty; neither is
 * NULL. */
typedef struct runar_error {
    int32_t code;                   /**< enum runar_error_code, or a service's own number from 10 000 */
    const char *message;            /**< the failure in words */
    const char *context;            /**< the subject of the failure; empty if there is none */
} runar_error;

/** Frees an error that a function put into its last argument. Not for those that callbacks get. NULL: nothing. */
void runar_error_free(runar_error *error);

/** Frees a text that a function returned. NULL: nothing. */
void runar_string_free(char *text);

/* ------------------------------------------------------------------------------------------------ callbacks */

/** The handle of a node, from runar_node_create() until runar_node_free(). */
typedef struct runar_node runar_node;
/** The handle of a service, from runar_service_create() until runar_service_free(). */
typedef struct runar_service runar_service;
/** The handle of a request to a service, from the call of its runar_action_callback until it is answered. */
typedef struct runar_request runar_request;

/** The end of a call. error is NULL on success; value is what the function's documentation says, or NULL. Both live
 * until the callback returns. */
typedef void (*runar_callback)(void *context, const char *value, const runar_error *error);

/** How a payload is written. */
enum runar_encoding {
    RUNAR_ENCODING_NONE = 0,        /**< there is no payload; as an option: JSON */
    RUNAR_ENCODING_JSON = 1,        /**< JSON (RFC 8259) */
    RUNAR_ENCODING_CBOR = 3,        /**< 2 is reserved */
    RUNAR_ENCODING_BYTES = 4        /**< as the two programs agreed */
};

/** The answer to a request: length bytes at data, or an error. It belongs to the callback that gets it, which frees it
 * with runar_data_result_free(), then or later and on any thread. */
typedef struct runar_data_result {
    const uint8_t *data;            /**< never NULL without an error; nothing can be read there when length is 0 */
    size_t length;                  /**< bytes at data; 0 if there is an error */
    const runar_error *error;       /**< NULL if there is an answer; part of the result, freed with it */
} runar_data_result;

/** The end of a call that returns bytes. The callback owns result, which is never NULL, and frees it with
 * runar_data_result_free(). */
typedef void (*runar_data_callback)(void *context, runar_data_result *result);

/** Frees a result and all that is in it. NULL: nothing. */
void runar_data_result_free(runar_data_result *result);

/** A published event. It lives until the callback returns. */
typedef struct runar_event {
    size_t size;                    /**< bytes of this struct in the library; fields beyond it are absent */
    const char *topic;              /**< to which it was published, never a pattern */
    const uint8_t *data;            /**< the published bytes */
    size_t length;                  /**< bytes at data */
    const char *publisher;          /**< the peer id; its signature was checked */
    const char *network_id;         /**< NULL for a name that is no network yet */
    int64_t published_at;           /**< seconds since 1970 by the publisher's clock */
    uint64_t number;                /**< counts the publisher's events from 1; 0 for one that never left this device */
    uint64_t dropped_before;        /**< events that were dropped before it because this callback was slow */
    uint64_t missed_before;         /**< events before it that no member keeps */
} runar_event;

/** Receives an event of a subscription. event lives until the callback returns. */
typedef void (*runar_event_callback)(void *context, const runar_event *event);

/** A request to a service. It lives until the callback returns. */
typedef struct runar_request_info {
    size_t size;                    /**< bytes of this struct in the library; fields beyond it are absent */
    const char *path;               /**< service/action */
    const char *parameters;         /**< a JSON object: the part of the path for each {name} of the action */
    const char *network_id;         /**< NULL for a name that is no network yet */
    const char *peer_id;            /**< the caller; NULL for this device */
    const uint8_t *payload;         /**< the payload */
    size_t payload_length;          /**< bytes at payload */
    int32_t encoding;               /**< how the payload is written, and the answer must be: enum runar_encoding */
    int64_t time_left_ms;           /**< until the caller stops waiting */
} runar_request_info;

/** A request for an action. It is answered by exactly one of runar_request_respond() and runar_request_fail(), in the
 * callback or later; one that is not answered fails at its deadline. */
typedef void (*runar_action_callback)(void *context, runar_request *request, const runar_request_info *info);

/* ------------------------------------------------------------------------------------------------ node */

/** The minimum level of the messages that a node logs. */
enum runar_log_level {
    RUNAR_LOG_DEFAULT = 0,          /**< info */
    RUNAR_LOG_TRACE = 1,            /**< every frame */
    RUNAR_LOG_DEBUG = 2,            /**< topics, addresses and decisions */
    RUNAR_LOG_INFO = 3,             /**< normal events of the node */
    RUNAR_LOG_WARN = 4,             /**< possible problems */
    RUNAR_LOG_ERROR = 5             /**< failures */
};

/** Gives the passphrase of the vault in home: writes it to buffer, which has room for capacity bytes, and returns how many
 * it wrote; 0 refuses. Called once by runar_node_create() before it returns, on the thread of its caller. The library
 * wipes the buffer. */
typedef size_t (*runar_passphrase_callback)(void *context, uint8_t *buffer, size_t capacity);

/** How a node is set up. Begin with RUNAR_NODE_CONFIG_INIT; 0 and NULL are the default of a field. */
typedef struct runar_node_config {
    size_t size;                    /**< set by RUNAR_NODE_CONFIG_INIT: bytes of this struct in the program */
    const char *node_id;            /**< the name of the device for people; NULL: "runar-node" */
    const char *default_network_id; /**< the network, by id or name, of what names none; NULL: the one membership */
    const char *home;               /**< the directory of the device's keys and database, made if missing */
    bool in_memory;                 /**< instead of home: a device that is gone with the node, for tests */
    const char *listen_addresses;   /**< separated by commas, such as "0.0.0.0:4000,[::]:4000"; NULL: all, any port */
    const char *network_ids;        /**< further networks by id or name, separated by commas; NULL: all memberships */
    uint64_t request_timeout_ms;    /**< 0: 30 000 */
    int32_t log_level;              /**< enum runar_log_level */
    bool disable_discovery;         /**< look for no members on the local network */
    uint32_t max_peers;             /**< 0: as many as the protocol keeps */
    const char *key_file;           /**< the key file of the vault in home, made if missing; NULL: vault.key in home */
    runar_passphrase_callback passphrase; /**< instead of key_file: a passphrase opens the vault; NULL: none does */
    void *passphrase_context;       /**< the argument of passphrase */
} runar_node_config;

/** The initializer of a runar_node_config: its size, and the default of every other field. */
#define RUNAR_NODE_CONFIG_INIT {sizeof(runar_node_config), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/** Opens the device's keys and database. NULL, and an error, if that fails: 5003 for an invalid configuration, 5004 for
 * a text that is not UTF-8, 5005 for no configuration, 1000 to 2005 for home: 2001 if no passphrase was given, 2002 if
 * it is wrong. Blocks for as long as the disk does, and with a passphrase some tenths of a second. Free the node with
 * runar_node_free(). */
runar_node *runar_node_create(const runar_node_config *config, runar_error **error);

/** Stops the node, ends what is under way with RUNAR_ERROR_CANCELLED and releases the node. Waits until no callback of
 * the node runs, except when it is called in a callback: then it returns at once and the rest follows. Handles of
 * requests to its services are gone with it; its services are not, and can be added to another node. Its home may be in
 * use for a moment longer: runar_node_create() for it then fails with RUNAR_ERROR_IN_USE. */
void runar_node_free(runar_node *node);

/** Connects to the networks; the callback's value is the peer id. Starting twice does nothing. */
void runar_node_start(runar_node *node, runar_callback callback, void *context);

/** Closes all connections gracefully. Services and subscriptions stay for another start. Stopping twice does nothing. */
void runar_node_stop(runar_node *node, runar_callback callback, void *context);

/** The device's peer id, to be freed with runar_string_free(); NULL and an error if the handle is not a node's. */
char *runar_node_peer_id(runar_node *node, runar_error **error);

/** The callback's value is a JSON object of nodeId, peerId, defaultNetworkId, networkIds, isRunning, addresses and
 * services. */
void runar_node_get_info(runar_node *node, runar_callback callback, void *context);

/** The callback's value is a JSON array of objects with peerId, label, networkIds, isConnected, addresses, lastSeen. */
void runar_node_get_known_peers(runar_node *node, runar_callback callback, void *context);

/* ------------------------------------------------------------------------------------------------ networks */

/** Makes a network of which this device is the owner and first member. Returns its id, to be freed with
 * runar_string_free(); NULL and an error. */
char *runar_node_create_network(runar_node *node, const char *name, runar_error **error);

/** On the owner's device: signs a token that makes the peer a member until expiration, in seconds since 1970, or without
 * end if that is 0. Returns the token's text, to be freed with runar_string_free(); NULL and an error. */
char *runar_node_issue_token(
    runar_node *node, const char *network_id, const char *peer_id, uint64_t expiration, runar_error **error);

/** Takes the text of a token for this device, and looks for members if the node runs. The value is the network's id. */
void runar_node_join_network(runar_node *node, const char *token, runar_callback callback, void *context);

/** Connects to a member and keeps the connection. address is "ip:port", or NULL to use the addresses that other members
 * know. The value is the peer id. */
void runar_node_connect(
    runar_node *node, const char *peer_id, const char *network_id, const char *address, runar_callback callback,
    void *context);

/** The UDP port that the node listens on; 0 while it is stopped and for other handles. */
uint16_t runar_node_listening_port(runar_node *node);

/* ------------------------------------------------------------------------------------------------ requests */

/** How a request is made. Begin with RUNAR_REQUEST_OPTIONS_INIT; 0 and NULL are the default of a field. */
typedef struct runar_request_options {
    size_t size;                    /**< set by RUNAR_REQUEST_OPTIONS_INIT: bytes of this struct in the program */
    uint64_t timeout_ms;            /**< 0: the node's request_timeout_ms */
    bool is_idempotent;             /**< the request may run twice: another provider is asked when one disconnects */
    const char *peer_id;            /**< the provider; NULL: this device if it offers the service, or any that does */
    int32_t encoding;               /**< how the payload is written: enum runar_encoding */
} runar_request_options;

/** The initializer of a runar_request_options: its size, and the default of every other field. */
#define RUNAR_REQUEST_OPTIONS_INIT {sizeof(runar_request_options), 0, 0, 0, 0}

/** Asks a service, "service/action" or "network:service/action", with payload_length bytes at payload, which may be NULL
 * if there are none. options may be NULL. Returns a number for runar_node_cancel_request(); 0 if the request was
 * refused at once, in which case the callback gets the error. */
uint64_t runar_node_request_raw(
    runar_node *node, const char *path, const uint8_t *payload, size_t payload_length,
    const runar_request_options *options, runar_data_callback callback, void *context);

/** Cancels a request: its callback gets RUNAR_ERROR_CANCELLED unless the answer is on its way to it already, and the
 * handler is notified, wherever it runs. False if no such request is pending. */
bool runar_node_cancel_request(runar_node *node, uint64_t request);

/* ------------------------------------------------------------------------------------------------ events */

/** Publishes length bytes at data, which may be NULL if there are none, to the subscribers of the topic,
 * "segment/..." or "network:segment/...". The callback, which may be NULL, is called when it is on its way. */
void runar_node_publish(
    runar_node *node, const char *topic, const uint8_t *data, size_t length, runar_callback callback, void *context);

/** Has the callback called with each event of a topic, or with "*", "{name}" and a trailing ">" of many, one after the
 * other; includes_past begins with recent events. The subscription is there when this returns, outlives a
 * stop and a start and ends with runar_node_unsubscribe() or runar_node_free(). Returns its id, to be freed with
 * runar_string_free() at any time; NULL and an error. */
char *runar_node_subscribe(
    runar_node *node, const char *topic, bool includes_past, runar_event_callback callback, void *context,
    runar_error **error);

/** Ends a subscription. After it returned, nothing more is delivered; a delivery that is under way on another thread is
 * waited for, unless this is called in a callback. False if there is no such subscription. */
bool runar_node_unsubscribe(runar_node *node, const char *subscription_id);

/* ------------------------------------------------------------------------------------------------ services */

/** A service without actions. path is the one segment by which it is asked. Free it with runar_service_free(). NULL and
 * an error for NULL, or for a text that is not UTF-8. */
runar_service *runar_service_create(
    const char *name, const char *path, const char *version, const char *description, runar_error **error);

/** Releases a service. One that was added to a node stays there until it is removed or the node is freed. */
void runar_service_free(runar_service *service);

/** The network in which the service answers, by id or name; NULL for the node's default one. Before it is added. */
bool runar_service_set_network(runar_service *service, const char *network, runar_error **error);

/** Adds an action, or replaces the one of that name. The name is one or more segments, "{name}" stands for any. The
 * context must live until the service is freed and the node that has or had it, too: an answer may be under way. */
bool runar_service_register_action(
    runar_service *service, const char *action, runar_action_callback callback, void *context, runar_error **error);

/** Has the callback called with each event of a topic while a node has the service; a topic without a slash is the
 * service's own. Before the service is added. Contexts as above. */
bool runar_service_register_event(
    runar_service *service, const char *topic, runar_event_callback callback, void *context, runar_error **error);

/** Offers a service: it answers whenever the node runs. The value is the service's path. A service is on at most one
 * node. */
void runar_node_add_service(runar_node *node, runar_service *service, runar_callback callback, void *context);

/** Removes a service. Requests in flight run to completion. The value is the path. */
void runar_node_remove_service(runar_node *node, const char *path, runar_callback callback, void *context);

/** Answers a request with length bytes at data, which may be NULL if there are none, and ends its handle. False, and an
 * error, when the answer is no longer awaited: it was answered before, cancelled, or has timed out. */
bool runar_request_respond(runar_request *request, const uint8_t *data, size_t length, runar_error **error);

/** Fails a request, so that the caller gets code, message and context, and ends its handle. The code is one of the
 * library's or 10 000 and above; context may be NULL. False, and an error, as above. */
bool runar_request_fail(
    runar_request *request, int32_t code, const char *message, const char *context, runar_error **error);

/** Whether the answer is no longer awaited; true for other handles. */
bool runar_request_is_cancelled(runar_request *request);

/* ------------------------------------------------------------------------------------------------ lifecycle */

/* What the system told the app. None of these waits, and none does anything for other handles. */

/** The system may end this program for lack of memory: releases all memory that can be restored, caches included. */
void runar_node_handle_memory_warning(runar_node *node);
/** The system needs some memory: releases memory that is rarely used. */
void runar_node_optimize_memory_usage(runar_node *node);
/** The app is in the background: the node serves only requests, and keeps its connections. */
void runar_node_reduce_operations(runar_node *node);
/** The app is in the foreground: the node resumes all its work. */
void runar_node_resume_operations(runar_node *node);
/** There is a network, again or another one: peers are dialled at once. */
void runar_node_network_available(runar_node *node);
/** There is no network: only peers of pending requests are dialled. */
void runar_node_network_unavailable(runar_node *node);

#ifdef __cplusplus
}
#endif

#endif /* RUNAR_H */
