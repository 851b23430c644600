/* The functions for sealed files and one-time keys. */
#include "probe.h"

static const char recipient_private[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4HmO53Dr9sPy2Jn+\n"
    "nRGoS3c67I2syospSf3kL5rF4A2hRANCAARwGsBc6Jc0PWRcgMa6kWX2cg3Y4b0p\n"
    "GazxhMGLq3ZdhuL5dcjNqP90RMwQF4PlbTBIliTO0OQC0Aeyo5TDDKr0\n"
    "-----END PRIVATE KEY-----\n";

static const char recipient_public[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEcBrAXOiXND1kXIDGupFl9nIN2OG9\n"
    "KRms8YTBi6t2XYbi+XXIzaj/dETMEBeD5W0wSJYkztDkAtAHsqOUwwyq9A==\n"
    "-----END PUBLIC KEY-----\n";

static const char creator_private[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgp/ejatJNSKUekj4B\n"
    "QMadgG8YRQ0dcWEiK+/fuSLreLahRANCAAQWCBjk+q7mCipHGXSUJ8knCx5L8pd+\n"
    "FRjQYKA8+W7H/oVzJKmo8drzURAyQlUuOBqJq24uaRv8hTia4A5n8XcJ\n"
    "-----END PRIVATE KEY-----\n";

static const char creator_public[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEFggY5Pqu5goqRxl0lCfJJwseS/KX\n"
    "fhUY0GCgPPlux/6FcySpqPHa81EQMkJVLjgaiatuLmkb/IU4muAOZ/F3CQ==\n"
    "-----END PUBLIC KEY-----\n";

static const uint8_t text[] = "meet me at the boat house";
static const size_t text_length = sizeof text - 1;

/* The code of the error of a result, or 0; frees it. */
static int32_t code_of_result(runar_data_result *result) {
    REQUIRE(result != NULL);
    int32_t code = result->error ? result->error->code : 0;
    REQUIRE((result->data == NULL) == (code != 0));
    runar_data_result_free(result);
    return code;
}

/* Opens a sealed result, which must give length bytes at expected. */
static void open_whole(runar_data_result *sealed, const char *creator, const uint8_t *expected, size_t length) {
    REQUIRE(sealed != NULL && sealed->error == NULL && sealed->length > length);
    runar_data_result *opened = runar_nanotdf_open(recipient_private, creator, sealed->data, sealed->length);
    REQUIRE(opened != NULL && opened->error == NULL && opened->length == length);
    REQUIRE(memcmp(opened->data, expected, length) == 0);
    runar_data_result_free(opened);
}

static void seal_files(void) {
    runar_data_result *sealed = runar_nanotdf_seal(recipient_public, text, text_length, NULL);
    open_whole(sealed, NULL, text, text_length);
    REQUIRE(code_of_result(runar_nanotdf_open(recipient_private, creator_public, sealed->data, sealed->length))
            == RUNAR_ERROR_NOT_AUTHENTIC);
    REQUIRE(code_of_result(runar_nanotdf_open(creator_private, NULL, sealed->data, sealed->length))
            == RUNAR_ERROR_NOT_AUTHENTIC);
    REQUIRE(code_of_result(runar_nanotdf_open(recipient_private, NULL, sealed->data, sealed->length - 1))
            == RUNAR_ERROR_DECODING);
    REQUIRE(code_of_result(runar_nanotdf_open(recipient_public, NULL, sealed->data, sealed->length))
            == RUNAR_ERROR_INVALID_PARAMETERS);
    REQUIRE(code_of_result(runar_nanotdf_open(NULL, NULL, sealed->data, sealed->length)) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(code_of_result(runar_nanotdf_open(recipient_private, NULL, NULL, 7)) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(code_of_result(runar_nanotdf_open(recipient_private, NULL, NULL, 0)) == RUNAR_ERROR_DECODING);
    runar_data_result_free(sealed);

    static const uint32_t tags[] = {0, 64, 96, 104, 112, 120, 128};
    for (size_t number = 0; number < sizeof tags / sizeof *tags; number++) {
        runar_seal_options options = RUNAR_SEAL_OPTIONS_INIT;
        options.tag_bits = tags[number];
        options.hash_binding = number % 2 == 1;
        options.signing_key = creator_private;
        sealed = runar_nanotdf_seal(recipient_public, text, text_length, &options);
        open_whole(sealed, creator_public, text, text_length);
        REQUIRE(code_of_result(runar_nanotdf_open(recipient_private, recipient_public, sealed->data, sealed->length))
                == RUNAR_ERROR_NOT_AUTHENTIC);
        runar_data_result_free(sealed);
    }
    runar_seal_options options = RUNAR_SEAL_OPTIONS_INIT;
    options.tag_bits = 32;
    REQUIRE(code_of_result(runar_nanotdf_seal(recipient_public, text, 1, &options)) == RUNAR_ERROR_INVALID_PARAMETERS);
    options.tag_bits = 0;
    options.signing_key = creator_public;
    REQUIRE(code_of_result(runar_nanotdf_seal(recipient_public, text, 1, &options)) == RUNAR_ERROR_INVALID_PARAMETERS);
    options.size = 0;
    REQUIRE(code_of_result(runar_nanotdf_seal(recipient_public, text, 1, &options)) == RUNAR_ERROR_INVALID_PARAMETERS);
    REQUIRE(code_of_result(runar_nanotdf_seal(NULL, text, 1, NULL)) == RUNAR_ERROR_NULL_ARGUMENT);
    REQUIRE(code_of_result(runar_nanotdf_seal("key", text, 1, NULL)) == RUNAR_ERROR_INVALID_PARAMETERS);

    /* Nothing, and more than one part. */
    sealed = runar_nanotdf_seal(recipient_public, NULL, 0, NULL);
    open_whole(sealed, NULL, text, 0);
    runar_data_result_free(sealed);
    size_t length = (16 << 20) + 5;
    uint8_t *large = malloc(length);
    REQUIRE(large != NULL);
    for (size_t place = 0; place < length; place++) large[place] = (uint8_t)(place * 31 >> 3);
    sealed = runar_nanotdf_seal(recipient_public, large, length, NULL);
    open_whole(sealed, NULL, large, length);
    REQUIRE(code_of_result(runar_nanotdf_open(recipient_private, NULL, sealed->data, sealed->length - 300)) != 0);
    runar_data_result_free(sealed);
    free(large);
}

const char *id_of(runar_node *node) {
    static char ids[2][64];
    static int turn;
    char *id = runar_node_peer_id(node, NULL);
    REQUIRE(id != NULL && strlen(id) < sizeof ids[0]);
    turn = !turn;
    strcpy(ids[turn], id);
    runar_string_free(id);
    return ids[turn];
}

void connect_nodes(runar_node *first, runar_node *second) {
    waiter end = WAITER_INIT;
    char address[32];
    char *network = runar_node_create_network(first, "Home", NULL);
    REQUIRE(network != NULL);
    char *token = runar_node_issue_token(first, network, id_of(second), 0, NULL);
    REQUIRE(token != NULL);
    runar_node_join_network(second, token, take_end, &end);
    REQUIRE(wait_for(&end, 1) == 0);
    snprintf(address, sizeof address, "127.0.0.1:%u", (unsigned)runar_node_listening_port(first));
    runar_node_connect(second, id_of(first), network, address, take_end, &end);
    REQUIRE(wait_for(&end, 2) == 0);
    runar_string_free(token);
    runar_string_free(network);
}

void copy_field(const char *json, const char *name, char *value, size_t capacity) {
    char field[64];
    int length = snprintf(field, sizeof field, "\"%s\":\"", name);
    const char *start = strstr(json, field);
    REQUIRE(start != NULL);
    const char *end = strchr(start + length, '"');
    REQUIRE(end != NULL && (size_t)(end - start - length) < capacity);
    memcpy(value, start + length, (size_t)(end - start - length));
    value[end - start - length] = 0;
}

static void use_one_time_keys(void) {
    runar_node *first = running_node(), *second = running_node();
    waiter end = WAITER_INIT, data = WAITER_INIT;
    int calls = 0, answers = 0;
    runar_node_get_key_relationships(first, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == 0 && strcmp(end.value, "[]") == 0);
    runar_node_exchange_keys(second, id_of(first), take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_UNREACHABLE);
    runar_node_exchange_keys(second, "nobody", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    runar_node_seal(second, id_of(first), text, text_length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_NO_ONE_TIME_KEYS);
    runar_node_open(second, id_of(first), text, text_length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_DECODING);

    connect_nodes(first, second);
    runar_node_exchange_keys(second, id_of(first), take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == 0 && strstr(end.value, "\"state\":\"completed\"") != NULL);
    char number[72];
    copy_field(end.value, "safetyNumber", number, sizeof number);
    REQUIRE(strstr(end.value, "\"verified\":false") != NULL);
    runar_node_get_key_relationships(first, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == 0 && strstr(end.value, number) != NULL);

    runar_node_verify_keys(first, id_of(second), "12345", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_INVALID_PARAMETERS);
    char other[72];
    strcpy(other, number);
    other[0] = other[0] == '0' ? '1' : '0';
    runar_node_verify_keys(first, id_of(second), other, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_WRONG_SAFETY_NUMBER);
    runar_node_verify_keys(first, id_of(second), number, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == 0);
    runar_node_get_key_relationships(first, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == 0 && strstr(end.value, "\"verified\":true") != NULL);

    runar_node_seal(second, id_of(first), text, text_length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == 0);
    uint8_t message[2048];
    size_t length = data.length;
    REQUIRE(length > text_length && length < sizeof message);
    memcpy(message, data.value, length);
    message[length - 1] ^= 1;
    runar_node_open(first, id_of(second), message, length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_NOT_AUTHENTIC);
    message[length - 1] ^= 1;
    runar_node_open(first, id_of(second), message, length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == 0);
    REQUIRE(data.length == text_length && memcmp(data.value, text, text_length) == 0);
    runar_node_open(first, id_of(second), message, length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_ONE_TIME_KEY_USED);

    runar_node_remove_keys(second, id_of(first), take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == 0);
    runar_node_seal(second, id_of(first), text, text_length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_NO_ONE_TIME_KEYS);
    runar_node_free(second);
    runar_node_free(first);
}

static void refuse_no_node(void) {
    waiter end = WAITER_INIT, data = WAITER_INIT;
    int calls = 0, answers = 0;
    runar_node_exchange_keys(NULL, "a", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_get_key_relationships(NULL, take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_verify_keys(NULL, "a", "b", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_remove_keys(NULL, "a", take_end, &end);
    REQUIRE(wait_for(&end, ++calls) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_seal(NULL, "a", text, text_length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_NULL_ARGUMENT);
    runar_node_open(NULL, "a", text, text_length, take_data, &data);
    REQUIRE(wait_for(&data, ++answers) == RUNAR_ERROR_NULL_ARGUMENT);
}

void seal_and_open(void) {
    seal_files();
    use_one_time_keys();
    refuse_no_node();
}
