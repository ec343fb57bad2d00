/// mc_uri.c: the URIs of databases, by the rules of SQLite (https://sqlite.org/uri.html), and what they say about the options of a pool.
#include <string.h>

#include "base/mc_memory.h"
#include "pool/mc_pool_internal.h"

static mc_status fail_memory(mc_error *error)
{
    return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the URI of a database");
}

static int hexadecimal(char digit)
{
    return digit >= '0' && digit <= '9' ? digit - '0'
        : digit >= 'a' && digit <= 'f'  ? digit - 'a' + 10
        : digit >= 'A' && digit <= 'F'  ? digit - 'A' + 10
                                        : -1;
}

/// Decodes the characters up to `end`; allocated, NULL without memory. A percent sign without two digits is a percent sign.
static char *decode(const char *text, const char *end)
{
    char *const decoded = mc_allocate((size_t)(end - text) + 1);
    size_t length = 0;
    while (decoded != NULL && text < end) {
        const int high = text[0] == '%' && end - text > 2 ? hexadecimal(text[1]) : -1;
        const int low = high >= 0 ? hexadecimal(text[2]) : -1;
        decoded[length++] = low >= 0 ? (char)(high << 4 | low) : text[0];
        text += low >= 0 ? 3 : 1;
    }
    if (decoded != NULL)
        decoded[length] = '\0';
    return decoded;
}

static bool has_zero(const char *text, const char *end)
{
    for (; end - text > 2; text++) {
        if (text[0] == '%' && text[1] == '0' && text[2] == '0')
            return true;
    }
    return false;
}

/// The state after the parameters that were read so far.
typedef struct reading {
    const char *text;  ///< the URI, for messages
    mc_pool_options *options;
    mc_uri *uri;
    bool shares_cache;
    bool skips_locks;
    mc_error *error;
} reading;

static mc_status fail_parameter(const reading *reading, const char *name, const char *value, const char *reason)
{
    return mc_fail(reading->error, MC_ERROR_MISUSE, "open \"%.80s\": %s=%.40s %s", reading->text, name, value, reason);
}

static mc_status take_mode(const reading *reading, const char *value)
{
    mc_pool_options *const options = reading->options;
    if (strcmp(value, "ro") == 0) {
        options->read_only = true;
        return MC_OK;
    }
    if (strcmp(value, "memory") == 0) {
        options->in_memory = true;
        return MC_OK;
    }
    const bool creates = strcmp(value, "rwc") == 0;
    if (!creates && strcmp(value, "rw") != 0)
        return fail_parameter(reading, "mode", value, "is not a mode: use ro, rw, rwc or memory");
    if (options->read_only || options->in_memory)
        return fail_parameter(reading, "mode", value,
                              options->read_only ? "contradicts the option for reading only: leave one out"
                                                 : "contradicts a database in memory: leave one out");
    if (creates && !options->creates_file)
        return fail_parameter(reading, "mode", value, "contradicts the option that no file is created: leave one out");
    options->creates_file = creates;
    return MC_OK;
}

static mc_status take_flag(const reading *reading, const char *name, const char *value, bool *flag)
{
    static const char *const texts[] = {"0", "off", "no", "false", "1", "on", "yes", "true"};
    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        if (strcmp(value, texts[index]) == 0) {
            *flag = index >= 4;
            return MC_OK;
        }
    }
    return fail_parameter(reading, name, value, "is not a switch: use 1 or 0");
}

static mc_status take_immutable(const reading *reading, const char *value)
{
    bool immutable = false;
    const mc_status status = take_flag(reading, "immutable", value, &immutable);
    if (status == MC_OK && !immutable && reading->options->immutable)
        return fail_parameter(reading, "immutable", value, "contradicts the option for files that do not change: leave one out");
    reading->options->immutable = immutable;
    return status;
}

static mc_status take_cache(reading *reading, const char *value)
{
    reading->shares_cache = strcmp(value, "shared") == 0;
    if (!reading->shares_cache && strcmp(value, "private") != 0)
        return fail_parameter(reading, "cache", value, "is not a cache: use private, or shared for a database in memory");
    return MC_OK;
}

static mc_status take_vfs(const reading *reading, const char *value)
{
    const char *const chosen = reading->options->vfs;
    if (chosen != NULL && strcmp(chosen, value) != 0)
        return fail_parameter(reading, "vfs", value, "contradicts the VFS or the storage layers of the options: leave one out");
    if (reading->uri->vfs == NULL)
        reading->uri->vfs = mc_copy_text(value);
    reading->options->vfs = reading->uri->vfs;
    return reading->uri->vfs != NULL ? MC_OK : fail_memory(reading->error);
}

/// Appends a parameter, as it is written, to those of the VFS.
static mc_status pass_on(const reading *reading, const char *from, const char *end)
{
    const char *const before = reading->uri->parameters != NULL ? reading->uri->parameters : "";
    char *const all = sqlite3_mprintf("%s&%.*s", before, (int)(end - from), from);
    if (all == NULL)
        return fail_memory(reading->error);
    mc_free(reading->uri->parameters);
    reading->uri->parameters = all;
    return MC_OK;
}

static mc_status take_parameter(reading *reading, const char *from, const char *end)
{
    const char *const equals = memchr(from, '=', (size_t)(end - from));
    char *const name = decode(from, equals != NULL ? equals : end);
    char *const value = equals != NULL ? decode(equals + 1, end) : decode(end, end);
    mc_status status = MC_OK;
    if (name == NULL || value == NULL)
        status = fail_memory(reading->error);
    else if (strcmp(name, "mode") == 0)
        status = take_mode(reading, value);
    else if (strcmp(name, "immutable") == 0)
        status = take_immutable(reading, value);
    else if (strcmp(name, "cache") == 0)
        status = take_cache(reading, value);
    else if (strcmp(name, "vfs") == 0)
        status = take_vfs(reading, value);
    else if (strcmp(name, "nolock") == 0)
        status = take_flag(reading, name, value, &reading->skips_locks);
    else if (name[0] != '\0')
        status = pass_on(reading, from, end);
    mc_free(name);
    mc_free(value);
    return status;
}

/// Checks the parameters that depend on others.
static mc_status check(const reading *reading)
{
    mc_pool_options *const options = reading->options;
    const char *const path = reading->uri->path;
    if (reading->skips_locks && !options->immutable)
        return fail_parameter(reading, "nolock", "1", "leaves the connections of a pool without locks: leave it out, or use immutable=1");
    const bool is_memory = options->in_memory || strcmp(path, ":memory:") == 0;
    if (reading->shares_cache && !is_memory)
        return fail_parameter(reading, "cache", "shared",
                              "is not for files: the connections of a pool have caches of their own; leave it out");
    options->in_memory = is_memory;
    // Without a shared cache a name in memory is a private database, for SQLite as well.
    if (is_memory && !reading->shares_cache)
        reading->uri->path[0] = '\0';
    return MC_OK;
}

mc_status mc_uri_read(const char *text, mc_pool_options *options, mc_uri *uri, mc_error *error)
{
    reading reading = {.text = text, .options = options, .uri = uri, .error = error};
    if (strncmp(text, "file:", 5) != 0)
        return mc_fail(error, MC_ERROR_MISUSE, "open \"%.80s\": a URI begins with \"file:\"; for a path, leave out the option for URIs",
                       text);
    const char *from = text + 5;
    const char *const end = from + strcspn(from, "#"), *const query = from + strcspn(from, "?#");
    if (has_zero(from, end))
        return mc_fail(error, MC_ERROR_MISUSE, "open \"%.80s\": neither a path nor a parameter has a zero byte (%%00)", text);
    if (strncmp(from, "//", 2) == 0) {
        const size_t host = strcspn(from + 2, "/?#");
        if (host != 0 && (host != 9 || strncmp(from + 2, "localhost", 9) != 0))
            return mc_fail(error, MC_ERROR_MISUSE, "open \"%.80s\": the host \"%.*s\" is not this one; use file:/PATH", text,
                           host < 40 ? (int)host : 40, from + 2);
        from += 2 + host;
    }
    uri->path = decode(from, query);
    mc_status status = uri->path != NULL ? MC_OK : fail_memory(error);
    for (const char *at = query; status == MC_OK && at < end;) {
        const char *const next = at + 1 + strcspn(at + 1, "&#");
        status = take_parameter(&reading, at + 1, next);
        at = next;
    }
    return status == MC_OK ? check(&reading) : status;
}

void mc_uri_free(mc_uri *uri)
{
    mc_free(uri->path);
    mc_free(uri->vfs);
    mc_free(uri->parameters);
}

char *mc_uri_write(const char *path, bool immutable, const char *parameters)
{
    sqlite3_str *const uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, "file:");
    for (size_t at = 0; path[at] != '\0'; at++) {
        const char byte = path[at];
        const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '.'
            || byte == '-' || byte == '_' || (byte == '/' && at != 1);  // two slashes would begin the name of a host
        if (is_plain)
            sqlite3_str_appendchar(uri, 1, byte);
        else
            sqlite3_str_appendf(uri, "%%%02X", (unsigned char)byte);
    }
    sqlite3_str_appendf(uri, "?immutable=%d%s", immutable, parameters != NULL ? parameters : "");
    return sqlite3_str_finish(uri);
}
