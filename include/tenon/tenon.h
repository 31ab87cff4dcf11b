/*
 * Tenon's C interface: load an ONNX model, run it, look at it.
 *
 * Ownership. Functions named tn_*_create or tn_*_load_*, tn_session_run, and those that return a handle through a `**`
 * give the caller a new handle, which the matching tn_*_release frees. Handles returned directly (`const tn_type*`,
 * `const char*`) belong to the object they came from and live as long as it does. Release functions accept NULL.
 *
 * Errors. Every function that can fail returns a tn_status*: NULL on success, else a handle with a code and a
 * message, which the caller releases. When a function fails, it does not touch its outputs.
 *
 * Threads. A session may be run by any number of threads at once; all other handles may be shared for reading.
 *
 * Which library. Functions marked [compiler] are in libtenon only; all others are in libtenon_runtime as well.
 */
#ifndef TENON_TENON_H_
#define TENON_TENON_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TN_API
#else
#define TN_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_status tn_status;
typedef struct tn_context tn_context;
typedef struct tn_model tn_model;
typedef struct tn_session tn_session;
typedef struct tn_value tn_value;
typedef struct tn_type tn_type;
typedef struct tn_options tn_options;
typedef struct tn_run tn_run;
typedef struct tn_npz tn_npz;
typedef struct tn_source tn_source;
typedef struct tn_weights tn_weights;
typedef struct tn_artifact tn_artifact;
typedef struct tn_publication tn_publication;
typedef struct tn_build tn_build;

/* ---- Version and machine ---- */

/* "0.1.0". */
TN_API const char* tn_version(void);
/* Version, CPU features, threads and quota, providers: one JSON object. Release with tn_string_release. */
TN_API tn_status* tn_system_json(char** json);
/* Measures what this machine does at most with the threads and the instruction set of a context (NULL: the default
 * one): {threads, cpu_isa, flops_per_second, bytes_per_second}, of multiply-adds on float32 (two operations each), and
 * of a copy outside the caches (read and written). Takes about a tenth of a second. Release with tn_string_release. */
TN_API tn_status* tn_machine_speed_json(tn_context* context, char** json);
TN_API void tn_string_release(char* text);

/* ---- Messages, temporary files and child processes ---- */

/* Sets a handler for messages that are not errors and that users should see during a call: that it waits for another
 * process, or which file it keeps although it looks unused. There is one handler per process, initially none (NULL).
 * Calls may come from any thread, one at a time; the message is valid during the call. */
TN_API void tn_set_message_handler(void (*handler)(void* user, const char* message), void* user);
/* Sets a question that calls ask again and again while they wait for another process, on the thread that waits: nonzero
 * ends the call with TN_CANCELLED. There is one question per process, initially none (NULL). */
TN_API void tn_set_wait_question(int (*must_stop)(void* user), void* user);
/* Removes the temporary files and staged artifacts of this process. Meant for a program that a signal is about to end;
 * later calls that write files fail. Waits for a publication that is moving files into place, so never call it from a
 * signal handler: let a thread wait for the signal. */
TN_API void tn_remove_temporary_files(void);
/* [compiler] Ends every process that builds have started; none can be started afterwards. Meant for a program that a
 * signal is about to end; call it before tn_remove_temporary_files. */
TN_API void tn_end_children(void);

/* ---- Status ---- */

typedef enum tn_code {
  TN_OK = 0,
  TN_INVALID_ARGUMENT = 1, /* the caller's option, tensor or name is wrong */
  TN_INVALID_MODEL = 2,    /* the file violates the ONNX format */
  TN_NOT_FOUND = 3,        /* a file, tensor or name is missing */
  TN_UNSUPPORTED = 4,      /* valid, but Tenon cannot do it */
  TN_INCOMPATIBLE = 5,     /* made by or for another version */
  TN_RESOURCE_LIMIT = 6,   /* memory, iterations, nesting or size */
  TN_GUARD_VIOLATED = 7,   /* new weights break an assumption of the compiled plan */
  TN_CANCELLED = 8,        /* the caller asked to stop */
  TN_IO = 9,               /* the operating system reported an error */
  TN_INTERNAL = 10         /* a bug in Tenon */
} tn_code;

/* TN_OK if status is NULL. */
TN_API tn_code tn_status_code(const tn_status* status);
/* The place (file, node, tensor) and the message; "" if status is NULL. */
TN_API const char* tn_status_message(const tn_status* status);
TN_API void tn_status_release(tn_status* status);
/* Creates a status for a callback that fails. The message is copied. */
TN_API tn_status* tn_status_create(tn_code code, const char* message);

/* ---- Options: keys and values as text, plus tensors and files by name ---- */

TN_API tn_options* tn_options_create(void);
TN_API void tn_options_release(tn_options* options);
/* Sets a key; the last value wins. The function that takes the options checks the keys: an unknown key is an error
 * that suggests the nearest known key.
 *   load:    map=1|0 (0 copies files instead of mapping them), freeze_inputs=1|0 (initializers listed as inputs become
 *            weights), freeze_input:NAME=1 (only this one), external_folder=DIR (for models from memory),
 *            max_nesting=N (limit on nested graphs and functions, including the outermost graph; default 64, at most
 *            256; a model that loads is never too deep to run), max_nodes=N (limit on nodes, with function calls
 *            expanded; default 5,000,000; if it is not set, expanding functions may give at most 100 times the nodes
 *            of the file, or 100,000 if that is more)
 *   context: threads=N (0: as many as the CPU quota allows), memory_limit=BYTES (for the runs of a session; default:
 *            three quarters of the machine's or container's memory), loop_limit=N (iterations of all loops of a run;
 *            default 10,000,000), cpu_isa=NAME (the most advanced instruction set for kernels, one of "isas" in
 *            tn_system_json; default: the environment variable TENON_CPU_ISA, else the best one)
 *   session: provider=cpu|cpu_exact|reference (cpu_exact: fast kernels without algorithms that add roundings),
 *            memory_limit=BYTES, loop_limit=N, cached_bindings=N, seed=N, cpu_isa=NAME, threads=N (limit on the
 *            threads of the context that a run uses, including the caller's; 0: all), dim:NAME=N (fixes a symbolic
 *            dimension), denotation:NAME=N (fixes input dimensions with this denotation), keep_subnormals=1|0
 *            (default 0: fast kernels take numbers below the smallest normal one as zero), keep_values=1|0 (after
 *            the outputs, a run also returns every named value that the compiled model computes, outputs included,
 *            in order of computation), cache=1|0 (take the compiled model from the compile cache, which gets it if
 *            it is not there; default 0), cache_dir=DIR, cache_bytes=N (as for tn_build_create); for a compiled
 *            model also the artifact options
 *   compile: provider=cpu|cpu_exact|reference, provider:MODEL=... (for one model of a group), jobs=N (models at a
 *            time), sources=reference|embed|none (where later partial swaps find the other weights: in the files
 *            they came from, in a copy in the artifact, or nowhere), defer_weights=1|0 (leave the weights out; they
 *            are set later), pin:NAME=1 (a weight that no swap may change)
 *   artifact: map=1|0, verify_weights=1|0 (check every byte before use), source_dir:DIR=1 (a folder to search for
 *            the files that sources came from, after the artifact's folder)
 *   weights: partial=1|0 (keep weights that the new set does not have), strict=1|0 (a tensor that the model does not
 *            have is an error), only:NAME=1 (replace only these), keep_sources=1|0 (keep tensors in memory for later
 *            partial swaps), map=1|0 (0 copies files instead of mapping them, so that they may be rewritten in
 *            place), recompile=1|0 (for sessions: see tn_session_set_weights)
 *   save:    embed=1|0 (the weights inside the one ONNX file), overwrite=1|0, weights_name=TEXT (name of the weights
 *            file, before the dash), only_changes=1|0 (refer to weights in other weights files instead of copying
 *            them), debug_map=1|0 (store node names, for messages and profiles)
 *   build:   see tn_build_create
 *   inputs:  seed=N, dim:NAME=N, shape:NAME=N,N,..., memory_limit=BYTES, sizes=0..5 (which of several extents to use
 *            for dimensions that nothing else decides; for tn_model_random_inputs)
 * Regardless of the options, a tensor has at most 64 dimensions.
 */
TN_API tn_status* tn_options_set(tn_options* options, const char* key, const char* value);
/* Replaces the initializer of this name with a tensor of the same element type and shape; the value is retained. When a
 * model is loaded, everything derived from the initializer uses the tensor, and its external data is not read. When a
 * session is created, the tensor replaces a weight that is already part of the model. */
TN_API tn_status* tn_options_set_weight(tn_options* options, const char* name, const tn_value* value);
/* Bytes to use instead of the external-data file of this name when a model is loaded. They must outlive the model. */
TN_API tn_status* tn_options_add_file(tn_options* options, const char* name, const void* data, size_t size);

/* ---- Context: resources that sessions share. NULL means a default context, created on first use. ---- */

TN_API tn_status* tn_context_create(const tn_options* options, tn_context** context);
TN_API void tn_context_release(tn_context* context);
/* The number of threads that a run in this context may use, including the caller's; NULL means the default context. */
TN_API int tn_context_threads(const tn_context* context);

/* ---- Element types: the numbers of ONNX ---- */

typedef enum tn_dtype {
  TN_UNDEFINED = 0,
  TN_FLOAT32 = 1,
  TN_UINT8 = 2,
  TN_INT8 = 3,
  TN_UINT16 = 4,
  TN_INT16 = 5,
  TN_INT32 = 6,
  TN_INT64 = 7,
  TN_STRING = 8,
  TN_BOOL = 9,
  TN_FLOAT16 = 10,
  TN_FLOAT64 = 11,
  TN_UINT32 = 12,
  TN_UINT64 = 13,
  TN_COMPLEX64 = 14,
  TN_COMPLEX128 = 15,
  TN_BFLOAT16 = 16,
  TN_FLOAT8E4M3FN = 17,
  TN_FLOAT8E4M3FNUZ = 18,
  TN_FLOAT8E5M2 = 19,
  TN_FLOAT8E5M2FNUZ = 20,
  TN_UINT4 = 21,
  TN_INT4 = 22,
  TN_FLOAT4E2M1 = 23,
  TN_FLOAT8E8M0 = 24,
  TN_UINT2 = 25,
  TN_INT2 = 26,
  TN_FLOAT6E2M3 = 27,
  TN_FLOAT6E3M2 = 28
} tn_dtype;

/* "float", "int64", ...; "undefined" if there is no such type. */
TN_API const char* tn_dtype_name(tn_dtype dtype);
/* The bytes that `count` elements take; sub-byte types are packed, lowest bits first. 0 for strings. */
TN_API int64_t tn_dtype_bytes(tn_dtype dtype, int64_t count);

/* ---- Values: tensors, sequences, optionals, maps ---- */

typedef enum tn_kind {
  TN_KIND_NONE = 0,
  TN_KIND_TENSOR = 1,
  TN_KIND_SEQUENCE = 2,
  TN_KIND_OPTIONAL = 3,
  TN_KIND_MAP = 4
} tn_kind;

/* A dense, row-major tensor over the caller's memory. `data` must stay valid until the value and everything made from
 * it is released; then `release(user)` is called, if it is not NULL. */
TN_API tn_status* tn_tensor_create(tn_dtype dtype, const int64_t* dims, size_t rank, void* data, size_t bytes,
                                   void (*release)(void* user), void* user, tn_value** value);
/* A tensor with its own memory; numbers are uninitialised, strings are empty. */
TN_API tn_status* tn_tensor_allocate(tn_dtype dtype, const int64_t* dims, size_t rank, tn_value** value);
/* A string tensor; UTF-8, copied. lengths may be NULL if all strings end with a zero byte. */
TN_API tn_status* tn_tensor_create_strings(const int64_t* dims, size_t rank, const char* const* strings,
                                           const size_t* lengths, tn_value** value);
/* Items are shared, not copied. element_type may be NULL if there is at least one item. */
TN_API tn_status* tn_sequence_create(const tn_value* const* items, size_t count, const tn_type* element_type,
                                     tn_value** value);
/* If item is NULL, the optional is empty. */
TN_API tn_status* tn_optional_create(const tn_value* item, const tn_type* element_type, tn_value** value);
/* keys: a 1-D int64 or string tensor; values: a 1-D tensor of the same length. */
TN_API tn_status* tn_map_create(const tn_value* keys, const tn_value* values, tn_value** value);
/* A second handle to the same value. */
TN_API tn_value* tn_value_retain(const tn_value* value);
TN_API void tn_value_release(tn_value* value);

TN_API tn_kind tn_value_kind(const tn_value* value);
/* For tensors. */
TN_API tn_dtype tn_tensor_dtype(const tn_value* value);
TN_API size_t tn_tensor_rank(const tn_value* value);
TN_API const int64_t* tn_tensor_dims(const tn_value* value);
TN_API int64_t tn_tensor_count(const tn_value* value);
/* The elements; NULL for strings. Only the creator of a tensor may write to it, and only before it is used. */
TN_API void* tn_tensor_data(const tn_value* value);
TN_API int64_t tn_tensor_bytes(const tn_value* value);
/* One string of a string tensor; not zero-terminated in general. */
TN_API const char* tn_tensor_string(const tn_value* value, int64_t index, size_t* length);
TN_API tn_status* tn_tensor_set_string(tn_value* value, int64_t index, const char* text, size_t length);
/* For sequences: the number of items, and a new handle to one of them. */
TN_API size_t tn_sequence_count(const tn_value* value);
TN_API tn_status* tn_sequence_at(const tn_value* value, size_t index, tn_value** item);
/* For optionals: *item is NULL if the optional is empty. */
TN_API tn_status* tn_optional_get(const tn_value* value, tn_value** item);
/* For maps: the keys and values as 1-D tensors. */
TN_API tn_status* tn_map_get(const tn_value* value, tn_value** keys, tn_value** values);
/* The type of a value, as text: "float[2, 3]". Release with tn_string_release. */
TN_API tn_status* tn_value_type_text(const tn_value* value, char** text);

/* Creates a tensor from JSON text: one element ("3", "true", "\"oak\"", "\"nan\"") or nested lists of elements ("[[1,
 * 2], [3, 4]]"). If dims is NULL, the lists give the shape, and one element is a scalar. Otherwise one element fills
 * the shape, and lists must have as many elements. A number that the element type cannot hold is an error. */
TN_API tn_status* tn_tensor_from_json(tn_dtype dtype, const int64_t* dims, size_t rank, const char* json,
                                      tn_value** value);
/* Describes a value as one JSON object: kind and type; for tensors dtype, shape, min, max and mean of the finite
 * numbers, the number of non-finite ones, and the first max_elements elements (NaN and infinities as text); for
 * sequences, optionals and maps their contents. Release with tn_string_release. */
TN_API tn_status* tn_value_describe(const tn_value* value, size_t max_elements, char** json);

/* The difference between a value and the expected one. The caller sets `size` to sizeof(tn_comparison); fields beyond a
 * smaller size are not written. */
typedef struct tn_comparison {
  size_t size;
  int comparable;         /* 0: kinds, element types, shapes, lengths or keys differ; the other fields are then unset */
  int64_t elements;       /* in all tensors of the value */
  int64_t mismatches;     /* elements with |actual - expected| > atol + rtol * |expected|; NaN agrees with NaN */
  int64_t first_mismatch; /* the position of an element, or -1 */
  int64_t nan_pairs;      /* elements that are NaN in both */
  double max_abs;         /* the largest |actual - expected| */
  double max_rel;         /* the largest |actual - expected| / |expected| where expected is not 0 */
  double cosine;          /* cosine of the angle between the values as vectors */
  double allowed_abs;     /* the atol that was used; with several element types, the largest one */
  int64_t ties;           /* indices that differ because they choose between equal elements; not mismatches */
} tn_comparison;
/* A negative rtol or atol means the default for the element type: the effect of rounding for floats, 0 for others. */
TN_API tn_status* tn_value_compare(const tn_value* actual, const tn_value* expected, double rtol, double atol,
                                   tn_comparison* comparison);

/* ---- Files ---- */

/* Every function here that writes a file moves it into place with one rename or changes nothing. It replaces only
 * regular files: a folder, link, pipe or device of that name is an error that names the file and its kind. */

/* Checks whether the file at this path, if there is one, may be replaced. */
TN_API tn_status* tn_file_check_replaceable(const char* path);
TN_API tn_status* tn_file_write(const char* path, const void* data, size_t size);
/* [compiler] Finds the first of these files, or of the external-data files of ONNX models among them, that writing
 * `output` would replace; "" if there is none. Release with tn_string_release. */
TN_API tn_status* tn_file_replaced_input(const char* output, const char* const* inputs, size_t count, char** input);
/* Reads a whole regular file of at most max_bytes as text. Never waits, unlike reading from a pipe. *size (which may be
 * NULL) is the length without the final zero. Release with tn_string_release. */
TN_API tn_status* tn_file_read(const char* path, size_t max_bytes, char** text, size_t* size);

/* ---- Array files: NumPy's .npy and .npz ---- */

/* NumPy has no name for some element types (bfloat16, float8, int4, ...) and saves only their bytes: `unnamed` is the
 * type of such an array (TN_UNDEFINED refuses it); other arrays ignore it. The file may stay mapped while the value
 * lives, so replace it only by renaming another file over it. */
TN_API tn_status* tn_npy_read(const char* path, tn_dtype unnamed, tn_value** value);
/* Writes a tensor; an existing file is replaced atomically. */
TN_API tn_status* tn_npy_write(const char* path, const tn_value* value);
/* Opens an archive of arrays. Values read from it outlive it. */
TN_API tn_status* tn_npz_open(const char* path, tn_npz** npz);
/* Limits the memory of all arrays read from the archive, except for those used in place in the file; beyond it the
 * error is TN_RESOURCE_LIMIT. Default: three quarters of the machine's or container's memory, as for tn_npy_read.
 * */
TN_API tn_status* tn_npz_limit_memory(tn_npz* npz, int64_t bytes);
TN_API void tn_npz_release(tn_npz* npz);
TN_API size_t tn_npz_count(const tn_npz* npz);
/* The array's name, without ".npy". */
TN_API const char* tn_npz_name(const tn_npz* npz, size_t index);
TN_API tn_status* tn_npz_read(const tn_npz* npz, size_t index, tn_dtype unnamed, tn_value** value);
/* Writes tensors under their names, which must be unique; an existing file is replaced atomically. */
TN_API tn_status* tn_npz_write(const char* path, const char* const* names, const tn_value* const* values, size_t count);

/* ---- Types of inputs and outputs ---- */

TN_API tn_kind tn_type_kind(const tn_type* type);
TN_API tn_dtype tn_type_dtype(const tn_type* type); /* tensors: elements; maps: keys */
TN_API int64_t tn_type_rank(const tn_type* type);   /* tensors; -1 if unknown */
/* The extent, or -1 if it is symbolic. */
TN_API int64_t tn_type_dim(const tn_type* type, size_t axis);
/* The extent as text: "3", "batch", "2*n + 1"; "" for an extent without a name. */
TN_API const char* tn_type_dim_text(const tn_type* type, size_t axis);
/* The name that the model gives the extent; "" if it is a number, is computed from others or has no name. */
TN_API const char* tn_type_dim_name(const tn_type* type, size_t axis);
/* The element type of a sequence or optional, or the value type of a map. NULL for tensors. */
TN_API const tn_type* tn_type_element(const tn_type* type);
/* "float[batch, 3]", "seq(float[...])". */
TN_API const char* tn_type_text(const tn_type* type);

/* ---- Models [compiler] ---- */

/* Reads an ONNX model. The file is mapped: replace it by renaming another file over it, never by writing into it. */
TN_API tn_status* tn_model_load_file(tn_context* context, const char* path, const tn_options* options,
                                     tn_model** model);
/* Reads a model from memory, which is copied. External data needs the option external_folder or files in memory. */
TN_API tn_status* tn_model_load_memory(tn_context* context, const void* data, size_t size, const tn_options* options,
                                       tn_model** model);
TN_API void tn_model_release(tn_model* model);
/* Writes the model as ONNX without losing anything of the original file. Never leaves a half-written file. */
TN_API tn_status* tn_model_save(const tn_model* model, const char* path);
/* Writes the model into memory; release with tn_string_release. */
TN_API tn_status* tn_model_to_memory(const tn_model* model, char** data, size_t* size);
/* Writes the model with every node newly written from Tenon's understanding of it, in the op versions that the model
 * imports. *report: JSON, {"respelled": N, "kept": ["Softmax (version 11)", ...]}; "kept" lists ops that have no other
 * form in these versions and stay unchanged. Release both with tn_string_release. */
TN_API tn_status* tn_model_respell(const tn_model* model, char** data, size_t* size, char** report);
/* Warnings about the model, one message each. */
TN_API size_t tn_model_warning_count(const tn_model* model);
TN_API const char* tn_model_warning(const tn_model* model, size_t index);
/* Describes the model as one JSON object. sections: comma-separated list of "summary", "content" (a hash of the file),
 * "unchanged" (whether its files are certainly unchanged), "graph", "ops", "weights", "hashed_weights" (weights with a
 * hash of each content, which reads them all), "plan", "tolerances" (the tolerances of tn_model_compare for each
 * output); NULL means summary. Release with tn_string_release. */
TN_API tn_status* tn_model_describe(const tn_model* model, const char* sections, char** json);
/* Renders the sections summary and graph of a description as one self-contained HTML page with a drawing of the graph
 * and a table of all nodes. Release with tn_string_release. */
TN_API tn_status* tn_model_html(const char* title, const char* description, char** html);
/* "producer_name", "producer_version", "graph_name", "domain", "description", "graph_description", "version",
 * "ir_version"; NULL if there is no such field. */
TN_API const char* tn_model_property(const tn_model* model, const char* name);
TN_API size_t tn_model_metadata_count(const tn_model* model);
TN_API const char* tn_model_metadata_key(const tn_model* model, size_t index);
TN_API const char* tn_model_metadata_value(const tn_model* model, size_t index);
/* The inputs and outputs of the model, in the order of a session's. */
TN_API size_t tn_model_input_count(const tn_model* model);
TN_API const char* tn_model_input_name(const tn_model* model, size_t index);
TN_API const tn_type* tn_model_input_type(const tn_model* model, size_t index);
/* 1 if the input may be omitted because the model has a default for it (an initializer listed as input). */
TN_API int tn_model_input_has_default(const tn_model* model, size_t index);
TN_API size_t tn_model_output_count(const tn_model* model);
TN_API const char* tn_model_output_name(const tn_model* model, size_t index);
TN_API const tn_type* tn_model_output_type(const tn_model* model, size_t index);

/* Creates random inputs for testing a model: numbers, strings, lists and maps that the nodes accept (indices in range,
 * divisors that are not zero, ...). The same seed gives the same inputs on every machine.
 *   inputs   one per model input, in the order of a session's. If NULL on entry, the caller gets a new handle (or
 *            NULL again, if the model has a default for the input). A value of the caller's stays unchanged, and its
 *            shape decides the symbolic dimensions it names. Any other dimension gets an extent that the shape rules
 *            of the nodes accept: a small one with the option sizes=0 (the default), others with 1 to 5. If the
 *            model accepts only one set of shapes, all sizes give these shapes.
 */
TN_API tn_status* tn_model_random_inputs(const tn_model* model, const tn_options* options, tn_value** inputs,
                                         size_t input_count);

/* Compares a value of the model (an output, or another value by its name) with the expected one, as all commands do.
 * The allowed difference follows from the nodes that the value depends on and their element types:
 *   nothing            strings, booleans, integers, and numbers that are only copied
 *   rounding           a fraction of the largest expected number: units in the last place of the coarsest type
 *                      involved, more of them for more roundings and longer sums
 *   steps              for numbers that are quantized on the way, a few steps of 1/127 of the largest, or of integers
 *   ties               indices from an ArgMax, ArgMin or TopK, where `chosen_from` shows that rounding explains the
 *                      different choice. It is the expected value that "chosen_from" names in the section
 *                      "tolerances" of tn_model_describe; NULL if there is none.
 * Use tn_value_compare for your own tolerances. */
TN_API tn_status* tn_model_compare(const tn_model* model, const char* name, const tn_value* actual,
                                   const tn_value* expected, const tn_value* chosen_from, tn_comparison* comparison);

/* ---- Sessions ---- */

/* [compiler] Compiles the model and creates a session for it. The model may be released afterwards. */
TN_API tn_status* tn_session_create(tn_context* context, const tn_model* model, const tn_options* options,
                                    tn_session** session);
TN_API void tn_session_release(tn_session* session);

TN_API size_t tn_session_input_count(const tn_session* session);
TN_API const char* tn_session_input_name(const tn_session* session, size_t index);
TN_API const tn_type* tn_session_input_type(const tn_session* session, size_t index);
/* 1 if the input may be omitted because the model has a default for it (an initializer listed as input). */
TN_API int tn_session_input_has_default(const tn_session* session, size_t index);
TN_API size_t tn_session_output_count(const tn_session* session);
TN_API const char* tn_session_output_name(const tn_session* session, size_t index);
TN_API const tn_type* tn_session_output_type(const tn_session* session, size_t index);
/* The node that computes an output; "" if the output is an input or a weight. */
TN_API const char* tn_session_output_node(const tn_session* session, size_t index);

/* The bytes of run memory in use now, and the peak so far. */
TN_API void tn_session_memory(const tn_session* session, int64_t* used, int64_t* peak);

/* ---- Sources of new weights: tensors by name ---- */

/* Opens an ONNX model, a .safetensors or .npz file, or a folder of files with the same names and layout as the files
 * that the weights came from. For an ONNX model, the names are those that tn_artifact_describe lists. */
TN_API tn_status* tn_source_open(const char* path, tn_source** source);
/* Creates a source of tensors in memory. Values are retained; they may change after a call that uses the source. */
TN_API tn_source* tn_source_create(void);
TN_API tn_status* tn_source_add(tn_source* source, const char* name, const tn_value* value);
TN_API void tn_source_release(tn_source* source);
/* The tensors of a source; a folder has none until it is used with a model. */
TN_API size_t tn_source_count(const tn_source* source);
TN_API const char* tn_source_name(const tn_source* source, size_t index);

/* ---- Artifacts: compiled models with their weights. Immutable. ---- */

/* [compiler] Compiles models into one artifact, which stores equal weights once. names must be unique. Large weights
 * are not packed yet: that happens when the artifact is saved or a session is created. */
TN_API tn_status* tn_compile(tn_context* context, const tn_model* const* models, const char* const* names, size_t count,
                             const tn_options* options, tn_artifact** artifact);
/* [compiler] The key of a compile with these options: a hash of the model's files, the options and the version.
 * Artifacts store it (see "made_from" in tn_artifact_describe). Release with tn_string_release. */
TN_API tn_status* tn_compile_key(const tn_model* model, const tn_options* options, char** key);
/* Opens context files (X_ctx.onnx) that share one weights file, which is mapped. No weight is read yet. */
TN_API tn_status* tn_artifact_load(tn_context* context, const char* const* paths, size_t count,
                                   const tn_options* options, tn_artifact** artifact);
/* Opens one context file in memory, which is copied. Its weights are embedded, or in a file in `folder`. */
TN_API tn_status* tn_artifact_load_memory(tn_context* context, const void* data, size_t size, const char* folder,
                                          const tn_options* options, tn_artifact** artifact);
/* *is_context is 1 for an ONNX file with a context node, Tenon's or another program's; 0 for other models. */
TN_API tn_status* tn_is_context_file(const char* path, int* is_context);
/* Describes a Tenon context file, even if its weights are missing, as one JSON object: model, embedded, weights_file,
 * content_id (of the weights), plan_key, source_file, made_by, and validation (the verdict stored by
 * tn_context_file_note_validation, or ""). Release with tn_string_release. */
TN_API tn_status* tn_context_file_describe(const char* path, char** json);
/* Stores the verdict of the comparison with the original model in a context file, as one word. The file is replaced
 * atomically; its weights stay. Files that are saved again, with new weights or not, have no verdict. */
TN_API tn_status* tn_context_file_note_validation(const char* path, const char* verdict);
/* Removes what interrupted publications left in a folder: their temporary folders, and weights files named
 * "<weights_name>-<8 digits>.bin" that no context file there refers to; with "", only those known to be left over.
 * Publishing does the latter. */
TN_API tn_status* tn_folder_tidy(const char* folder, const char* weights_name);
/* Finishes a publication into this folder that was interrupted between its first and last context file. Does nothing if
 * there was none. */
TN_API tn_status* tn_folder_complete(const char* folder);
TN_API void tn_artifact_release(tn_artifact* artifact);
TN_API size_t tn_artifact_model_count(const tn_artifact* artifact);
TN_API const char* tn_artifact_model_name(const tn_artifact* artifact, size_t model);
/* One JSON object. sections: comma-separated list of "models" (names, inputs, outputs, plan keys, sizes), "packed"
 * (packed tensors, their sources and users), "sources" (source weights, and whether they can be swapped),
 * "weight_program", "plan"; NULL means models. Release with tn_string_release. */
TN_API tn_status* tn_artifact_describe(const tn_artifact* artifact, const char* sections, char** json);
/* Checks every byte: the checksums, and that packed weights match their sources, as far as these are available. *json
 * (which may be NULL) says what was checked. */
TN_API tn_status* tn_artifact_verify(const tn_artifact* artifact, char** json);
/* Makes an artifact with the same models and new weights. *report as for tn_session_set_weights. */
TN_API tn_status* tn_artifact_bake(tn_context* context, const tn_artifact* artifact, const tn_source* source,
                                   const tn_options* options, tn_artifact** baked, char** report);
/* Makes an artifact with the same models but without the weights that can be set. */
TN_API tn_status* tn_artifact_strip(const tn_artifact* artifact, tn_artifact** stripped);
/* Writes the source weights as .safetensors. If some are not available, or have a type that the format cannot store
 * (strings, complex128, ...), it fails, names them and writes nothing. */
TN_API tn_status* tn_artifact_export(const tn_artifact* artifact, const char* path);

/* Writes context files and one weights file into a folder, which is created if necessary. At any moment, even after a
 * crash, each context file in the folder is complete, either old or new, and so are its weights. */
TN_API tn_status* tn_artifact_save(const tn_artifact* artifact, const char* folder, const char* const* names,
                                   size_t count, const tn_options* options);
/* Does the same in two steps, so that the files can be checked before they are moved into place. */
TN_API tn_status* tn_artifact_stage(const tn_artifact* artifact, const char* folder, const char* const* names,
                                    size_t count, const tn_options* options, tn_publication** publication);
/* The current path of a model's context file. */
TN_API const char* tn_publication_path(const tn_publication* publication, size_t model);
/* The name and size of the weights file; "" and the size of the weights if they are embedded. */
TN_API const char* tn_publication_weights_name(const tn_publication* publication);
TN_API int64_t tn_publication_weights_bytes(const tn_publication* publication);
TN_API tn_status* tn_publication_publish(tn_publication* publication);
/* Removes the files unless they were published. */
TN_API void tn_publication_release(tn_publication* publication);

/* Creates a session for one of an artifact's models, by number. The artifact may be released afterwards. */
TN_API tn_status* tn_artifact_session(tn_context* context, const tn_artifact* artifact, size_t model,
                                      const tn_options* options, tn_session** session);

/* ---- Optimizing [compiler]: models in normal form ---- */

/* The capabilities that can be switched: a JSON list of {name, group, default, exact, result ("exact", "rounding" or
 * "approximate"), description, needs, excludes, produces: [{domain, op, since}], rules}. Release with
 * tn_string_release. */
TN_API tn_status* tn_capabilities_json(char** json);
/* What the options capability:NAME=1|0 come to: {on: [name], added: [{name, needed_by}]}. What an enabled capability
 * needs is switched on with it. TN_INVALID_ARGUMENT names a capability that does not exist, one that is needed and
 * disabled, or two that exclude each other. Release *json with tn_string_release. */
TN_API tn_status* tn_choose_capabilities(const tn_options* options, char** json);
/* The model after Tenon's passes as the bytes of an ONNX file, in the op versions that the model imports. Options:
 * capability:NAME=1|0 switches a capability on or off. *report is one JSON object: capabilities (as
 * tn_choose_capabilities has them), status ("optimized" or "already normalized"), nodes: {before, after}, changes:
 * [{pass, rule, node, reason, removed, added, bytes}]: pass is the capability, bytes what the change adds to the values
 * that the model stores. The metadata of each new node says under tenon.made_by what made it, and of which nodes.
 * Release both with tn_string_release. */
TN_API tn_status* tn_model_optimize(const tn_model* model, const tn_options* options, char** data, size_t* size,
                                    char** report);
/* The same as a model in memory, which refers to the weights of the first one, for whoever compiles or runs it next:
 * for them it is the model of the same file. Where nothing is to be done, it is the first one. Options as for
 * tn_model_optimize, force=1|0 (run the passes even if the model carries the stamp of a normal form), and cache=1|0
 * (take what the same passes made of the same graph before from the compile cache, whatever its weights are, and put
 * there what is new; default 0) with cache_dir and cache_bytes as for tn_build_create. *report also has seconds, cached
 * (whether the cache had the result), and evidence ("stamp" or "no pass changes it") for what was done before. */
TN_API tn_status* tn_model_optimized(const tn_model* model, const tn_options* options, tn_model** optimized,
                                     char** report);
/* Writes the model in normal form to a file, wherever its weights are: inside it, in other files, or in memory
 * (tn_options_add_file). The passes run; each weight is read once and written once. Data files in the output's folder
 * stay, and the output refers to them. All other weights go into the output, unless it would get larger than
 * file_bytes, or two weights are the same region of a data file: then weights over 1 KiB go to one data file,
 * "OUTPUT.data", which is written first. While an existing output that is replaced needs a data file of that name, the
 * new one gets another name, and the old one is removed in the end. Options as for tn_model_optimize, and
 * overwrite=1|0, file_bytes=N (at most the 2 GiB of protobuf, which is the default). *report as for tn_model_optimize,
 * and output, written ("model"), data_files: [{name, written ("weights" or "nothing"), bytes}], seconds. Release with
 * tn_string_release. */
TN_API tn_status* tn_model_save_optimized(const tn_model* model, const char* output, const tn_options* options,
                                          char** report);
/* Optimizes from file to file, which may be one. Where nothing is to be done, no weight is read: nothing is written
 * when both are the same file, else the output is a copy that shares its blocks with the input where the file system
 * can. An output in the input's folder refers to the input's external data; elsewhere the data files are copied first.
 * Options as for tn_model_optimize, and force=1|0 (run the passes even if the model carries the stamp of a normal
 * form), overwrite=1|0, check=1|0 (write nothing), file_bytes=N (as for tn_model_save_optimized), drift=1|0 (measure in
 * the reference interpreter, on inputs drawn with seed=N, what changes that are not exact do to the outputs). *report
 * also has input, output, written ("model", "reflink", "copy", "nothing"), evidence ("stamp" or "no pass changes it",
 * when it was done before), data_files, seconds; with check misses: [{pass, rule, node, reason}], why rules that were
 * about a node did not fire there, and effects: [{capability, changes, nodes, bytes}] of each capability that is on,
 * alone; with drift in each change that is not exact drift: {output, max_abs, max_rel, allowed, within} of the output
 * that it moves most, and drift: {seed, inputs, outputs: [{name, max_abs, max_rel, allowed, within}]} of all changes
 * together. within: rounding explains it. */
TN_API tn_status* tn_optimize(const char* input, const char* output, const tn_options* options, char** report);

/* What will run each node of a model: {target, consumer, capabilities (as tn_choose_capabilities has them), error (why
 * it cannot be compiled, or ""), summary: {nodes, steps, providers, kernels, fallbacks}, suggestions: [{capability,
 * result, description, fires, nodes}] (capabilities that are off and would help; nodes: those that the reference would
 * no longer run), nodes: [{name, op, depth, inputs, outputs, provider ("cpu", "reference", "control"; "view": only
 * the shape changes, nothing is computed; "weights": computed when weights are loaded; "none"), kernel, variant, with,
 * reasons}]}. No weight is read. Options:
 * provider=cpu|reference, capability:NAME=1|0, optimize=1|0 (0: the model as it is), consumer=tenon|onnxruntime (who
 * will run it; for onnxruntime every capability helps that writes ops it has), cache, cache_dir and cache_bytes as for
 * tn_model_optimized; what the cache had has cached: true. Release with tn_string_release. */
TN_API tn_status* tn_model_analyze(const tn_model* model, const tn_options* options, char** json);
/* Renders analyses, a JSON list of {model, analysis}, as one self-contained HTML page. Release with tn_string_release.
 */
TN_API tn_status* tn_analysis_html(const char* analyses, char** html);

/* ---- Builds [compiler]: from models to validated files ---- */

/* A build compiles models into context files that share one weights file. It chooses names, skips models that are up to
 * date, continues when a model fails, compares each result with the reference interpreter before it publishes the
 * files, and reports on every model. Use it from one thread at a time, except for tn_build_cancel. Options:
 *   output=FILE (for one model; excludes output_dir), output_dir=DIR (created if necessary; needed for several models;
 *   without either, results go beside the first model), weights_name=TEXT (name of the weights file, before the dash),
 *   overwrite=1|0 (replace existing context files), embed=1|0, compiler=NAME (one of tn_compilers_json), provider,
 *   cpu_isa, sources, defer_weights, pin:NAME=1, freeze_inputs, freeze_input:NAME=1, jobs, threads (as for compile,
 *   load and context), keep_going=1|0 (1: continue when a model fails; 0: write nothing then),
 *   validate=1|0 (compare the results; default 1), validate_existing=1|0 (also validate results that are up to date),
 *   validate_seconds=N (limit for the reference per set of inputs, and then for the compiled model; default 600),
 *   dim:NAME=N, shape:NAME=N,N,... and input:NAME=FILE.npy|VALUE (inputs for the comparison),
 *   program=PATH (the `tenon` program that runs the comparison),
 *   compile_seconds=N (limit on the silence of a compiler in its own process; default 3600),
 *   cache=1|0 (take what was compiled before from the compile cache, and put there what is new; default 1),
 *   cache_dir=DIR (instead of the user's cache folder), cache_bytes=N (limit on its size; default 10 GiB, and never
 *   more than a tenth of the free space),
 *   optimize=1|0 (bring models into normal form first, in memory; default 0), capability:NAME=1|0, force=1|0 (as for
 *   tn_model_optimized)
 * With staged=1 the build works as `tenon build` does (docs/build.md): into output_dir, with a manifest there, and only
 * those stages run that something has changed for. Its options:
 *   compile=1|0 (0: stop at the optimized models, and write these), keep_optimized=1|0 (write them too), rebuild=1|0
 *   (run every stage), rehash=1|0 (read every file), dry_run=1|0 (write nothing), auto=1|0 (switch on the capabilities
 *   that the analysis suggests), most_rounds=N (of that; default 3), fail_on_reference=1|0
 * The report is the manifest then, with the report of the compile, or null, as "report".
 * The comparison runs in a separate process, so a crash or a hang fails only one model. The program is `tenon`, which
 * is found beside the library or in the bin folder of the installation. If it is missing, the build fails with
 * TN_NOT_FOUND before any model is compiled; name the program, or set validate=0. */
TN_API tn_status* tn_build_create(const tn_options* options, tn_build** build);
TN_API void tn_build_release(tn_build* build);
/* Adds a model. Options, for this model only: provider, name (of the results; default: the stem of the path),
 * capability:NAME=1|0. */
TN_API tn_status* tn_build_add_model(tn_build* build, const char* path, const tn_options* options);

typedef enum tn_build_event {
  TN_BUILD_PROGRESS = 0, /* what the build is doing */
  TN_BUILD_WARNING = 1,  /* for users to see */
  TN_BUILD_DETAIL = 2    /* shown on request */
} tn_build_event;
/* Stands for no model. */
#define TN_BUILD_NO_MODEL ((size_t)-1)
/* Sets a listener for the events of a build. Calls may come from any thread, one at a time; `model` is the number of
 * the model that the text is about, or TN_BUILD_NO_MODEL. The text is valid during the call. */
TN_API tn_status* tn_build_listen(tn_build* build,
                                  void (*listener)(void* user, tn_build_event event, size_t model, const char* text),
                                  void* user);

/* The steps of a build. Each step does the ones before it, so a program that only wants results calls tn_build_run.
 * Prepare checks options and chooses names; it reads and writes nothing. Load reads the models; a model that cannot be
 * read is not an error but a failed model. Run compiles, compares and publishes, once; it succeeds even if models fail,
 * so check the report. */
TN_API tn_status* tn_build_prepare(tn_build* build);
TN_API tn_status* tn_build_load(tn_build* build);
/* *report is one JSON object: compiler, status ("compiled", "up to date" or "failed" if any model failed), folder,
 * seconds, threads, written (files), models: [{model, name, status ("compiled", "up to date", "failed", "skipped"),
 * output, error, seconds, nodes, steps, bytes, packed_bytes, shared: {tensors, bytes, with}, cached (whether the cache
 * had it, for compiled ones), validation: {verdict, message, outputs, tried, seconds}, warnings}], group:
 * {weights_file, bytes, packed_bytes, bytes_without_sharing, bytes_saved, tensors, stored_twice} or null. Release with
 * tn_string_release. */
TN_API tn_status* tn_build_run(tn_build* build, char** report);
/* Makes tn_build_run end soon with TN_CANCELLED, from any thread, unless it has already published. A model that is
 * being compiled in this process is finished first. */
TN_API void tn_build_cancel(tn_build* build);

TN_API size_t tn_build_model_count(const tn_build* build);
/* The path of a model's result; "" before tn_build_prepare.
 * These are the bytes of the path, whereas the report has text.
 * */
TN_API const char* tn_build_output(const tn_build* build, size_t model);
/* The status: "waiting", or as in the report. The error: why the model failed, or "". */
TN_API const char* tn_build_status(const tn_build* build, size_t model);
TN_API const char* tn_build_error(const tn_build* build, size_t model);
/* A loaded model; *loaded is NULL if it failed or is not loaded yet. */
TN_API tn_status* tn_build_model(const tn_build* build, size_t model, tn_model** loaded);

/* Compares a compiled model with the original model, as a build does before it publishes: in a separate process, on
 * random inputs. *json is one object: verdict ("same", "different", "inconclusive" if the reference cannot decide,
 * "failed"), message, outputs, tried (the shapes), seconds. Options: program, validate_seconds, cpu_isa, threads,
 * freeze_inputs, freeze_input:NAME, dim:NAME, shape:NAME and input:NAME as for tn_build_create; seed=N, samples=N (sets
 * of inputs; 0: one per shape), rtol=X and atol=X (instead of the effect of rounding), memory_limit=BYTES (for each
 * run). Release with tn_string_release. */
TN_API tn_status* tn_validate(const char* model, const char* context, const tn_options* options, char** json);
/* Renders a build report as one self-contained HTML page. Release with tn_string_release. */
TN_API tn_status* tn_build_report_html(const char* report, char** html);
/* Lists the compilers, probed now: a JSON list of {name, alias, description, usable, reason}, where alias and reason
 * may be null. Release with tn_string_release. */
TN_API tn_status* tn_compilers_json(char** json);

/* Describes a compile cache: {folder, models, weights_files, graphs (optimized ones, and analyses), bytes, most_bytes},
 * where most_bytes is what it may take at this moment. folder: NULL or "" for the user's, which is
 * $XDG_CACHE_HOME/tenon or ~/.cache/tenon. Release with tn_string_release. */
TN_API tn_status* tn_cache_describe(const char* folder, char** json);
/* Empties a compile cache: {folder, freed_bytes}. Files that are not the cache's stay. Release with
 * tn_string_release. */
TN_API tn_status* tn_cache_clear(const char* folder, char** json);

/* ---- Replacing the weights of sessions ---- */

/* Sets new weights by name. Runs in progress finish with the old weights, later runs use the new ones, and none waits.
 * If something does not fit, the error lists everything that is wrong, and the old weights stay. *report (which may be
 * NULL): {replaced, kept, ignored, open, not_finite, warnings, slots, slots_redone, bytes_redone, seconds, recompiled};
 * open: weights that must be set before the model can run; warnings: one sentence for each attribute (an epsilon, an
 * alpha) that differs in the other ONNX model, since attributes never change. Weights that change a value that the plan
 * depends on (the elements of a shape, say) are refused with TN_GUARD_VIOLATED. With the option recompile=1 the model
 * is compiled again instead, and the session switches to the new plan and its weights at once. This needs libtenon and
 * the model: the one that the session was made from, or, for a compiled model, its source file, in its folder or in a
 * source_dir. Inputs stay the same; types of outputs may change. recompiled is null, or {guards: [{weight, asker,
 * property, before, after}], seconds}. */
TN_API tn_status* tn_session_set_weights(tn_session* session, const tn_source* source, const tn_options* options,
                                         char** report);
/* Sets the weights of several sessions, which switch together. *report is a list in their order. */
TN_API tn_status* tn_sessions_set_weights(tn_session* const* sessions, size_t count, const tn_source* source,
                                          const tn_options* options, char** report);
/* The current weights of a session, or the weights of an artifact's model. Immutable, shared, cheap to hold. */
TN_API tn_status* tn_session_weights(const tn_session* session, tn_weights** weights);
TN_API tn_status* tn_artifact_weights(const tn_artifact* artifact, size_t model, tn_weights** weights);
TN_API void tn_weights_release(tn_weights* weights);
/* Switches a session to weights of the same plan, from another session or artifact. Copies nothing. */
TN_API tn_status* tn_session_use_weights(tn_session* session, const tn_weights* weights);
/* Switches several sessions together: weights[i] are for sessions[i]. */
TN_API tn_status* tn_sessions_use_weights(tn_session* const* sessions, const tn_weights* const* weights, size_t count);

/* ---- Runs ---- */

/* Cancels and profiles runs. May be NULL in tn_session_run. */
TN_API tn_run* tn_run_create(void);
TN_API void tn_run_release(tn_run* run);
/* Makes runs that use this handle stop soon with TN_CANCELLED, from any thread; reset allows new runs. */
TN_API void tn_run_cancel(tn_run* run);
TN_API void tn_run_reset(tn_run* run);
/* Makes run share leader's cancelled state. Call it before run is used. */
TN_API void tn_run_follow(tn_run* run, const tn_run* leader);
/* For callers that notice a request to stop only in the running thread, such as an interpreter with signals: runs that
 * use this handle call must_stop(user) in their own thread about every 50 ms, and stop with TN_CANCELLED if it does not
 * return 0. Shorter runs never call it. NULL: no function is called. Call it before run is used. */
TN_API void tn_run_ask(tn_run* run, int (*must_stop)(void* user), void* user);
/* Records the time of every step of the next run. */
TN_API void tn_run_enable_profile(tn_run* run, int enable);
/* The steps of the last profiled run: a JSON array of {name, kernel, variant, depth, start_us, duration_us, flops,
 * bytes, dims}; depth is the number of enclosing sub-graphs. flops and bytes are what the step has to compute and to
 * move at least: operations on single numbers, null where that is not known, and the size of what it reads and writes.
 * dims are those of its first output. */
TN_API tn_status* tn_run_profile_json(const tn_run* run, char** json);

/* Runs the model.
 *   inputs   one per session input, in order; NULL uses the input's default
 *   outputs  one per session output, in order. If NULL on entry, Tenon allocates it and the caller gets a new handle.
 *            If it is a tensor on entry, the result is written into its memory (dtype and dims must match), and the
 *            handle stays the caller's.
 *   wanted   one flag per output, or NULL for all; unwanted outputs stay NULL
 */
TN_API tn_status* tn_session_run(const tn_session* session, tn_run* run, const tn_value* const* inputs,
                                 size_t input_count, const unsigned char* wanted, tn_value** outputs,
                                 size_t output_count);

/* --- Providers of other compilers ------------------------------------------------------------------------- */

/* A provider runs parts of models that its own compiler made. A part is a blob in the weights of a compiled model;
 * steps name the provider that runs it. The functions are called from any thread, several at once; they create statuses
 * with tn_status_create. `name` is copied; `user` is passed to every function. */
typedef struct tn_provider {
  size_t size; /* sizeof(tn_provider) */
  const char* name;
  void* user;
  /* Prepares a blob for running. The blob stays valid while the result is used, but may be gone when it is closed. */
  tn_status* (*open)(void* user, const void* blob, size_t bytes, void** opened);
  /* Computes every output as a new value, which the caller releases. Absent inputs are NULL. */
  tn_status* (*run)(void* user, void* opened, const tn_value* const* inputs, size_t input_count, tn_value** outputs,
                    size_t output_count);
  /* May be NULL. */
  void (*close)(void* user, void* opened);
} tn_provider;

/* Registers a provider for all sessions of the process, permanently. Fails if the name is taken. */
TN_API tn_status* tn_provider_register(const tn_provider* provider);

#ifdef __cplusplus
}
#endif

#endif /* TENON_TENON_H_ */
