/// mc_blob_file.c: copies files into large values and back.
#include <errno.h>
#include <stdio.h>

#include "base/mc_memory.h"
#include "blobs/mc_blob_internal.h"
#include "mc_blob_reader.h"
#include "mc_blob_writer.h"

enum { PIECE = 256 * 1024 };

static mc_status fail_file(mc_error *error, const char *what, const char *path)
{
    const int code = errno;
    const mc_status status = code == ENOENT ? MC_ERROR_NOT_FOUND : code == ENOSPC ? MC_ERROR_FULL : MC_ERROR_IO;
    return mc_fail(error, status, "%s \"%s\": %s", what, path, strerror(code));
}

static mc_status write_all_of(FILE *file, const char *path, mc_blob_writer *writer, uint8_t *piece, int64_t *bytes, mc_error *error)
{
    mc_status status = MC_OK;
    size_t length;
    while (status == MC_OK && (length = fread(piece, 1, PIECE, file)) > 0) {
        status = mc_blob_writer_write(writer, piece, length, error);
        *bytes += (int64_t)length;
    }
    if (status == MC_OK && ferror(file) != 0)
        status = fail_file(error, "read", path);
    return status;
}

mc_status mc_blob_copy_from_file(mc_blob_writer *writer, const char *path, int64_t *bytes, mc_error *error)
{
    int64_t copied = 0;
    mc_status status = MC_OK;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return fail_file(error, "open", path);
    uint8_t *piece = mc_allocate(PIECE);
    if (piece == NULL)
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to copy \"%s\"", path);
    else
        status = write_all_of(file, path, writer, piece, &copied, error);
    mc_free(piece);
    (void)fclose(file);
    if (bytes != NULL)
        *bytes = copied;
    return status;
}

static mc_status read_all_into(FILE *file, const char *path, mc_blob_reader *reader, uint8_t *piece, int64_t *bytes, mc_error *error)
{
    size_t length = 0;
    mc_status status = mc_blob_reader_seek(reader, 0, error);
    while (status == MC_OK && (status = mc_blob_reader_read(reader, piece, PIECE, &length, error)) == MC_OK && length > 0) {
        if (fwrite(piece, 1, length, file) != length)
            status = fail_file(error, "write", path);
        *bytes += (int64_t)length;
    }
    return status;
}

mc_status mc_blob_copy_to_file(mc_blob_reader *reader, const char *path, int64_t *bytes, mc_error *error)
{
    int64_t copied = 0;
    mc_status status = MC_OK;
    uint8_t *piece = mc_allocate(PIECE);
    char *part = sqlite3_mprintf("%s.part", path);
    FILE *file = NULL;
    if (piece == NULL || part == NULL) {
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to copy to \"%s\"", path);
        goto done;
    }
    file = fopen(part, "wb");
    if (file == NULL) {
        status = fail_file(error, "create", part);
        goto done;
    }
    status = read_all_into(file, path, reader, piece, &copied, error);
    if (fclose(file) != 0 && status == MC_OK)
        status = fail_file(error, "write", part);
    if (status == MC_OK && rename(part, path) != 0)
        status = fail_file(error, "replace", path);
    if (status != MC_OK)
        (void)remove(part);

done:
    mc_free(part);
    mc_free(piece);
    if (bytes != NULL)
        *bytes = copied;
    return status;
}
