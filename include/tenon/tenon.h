/*
 * Tenon's C interface: load an ONNX model, run it, look at it.
 *
 * Ownership. Functions named tn_*_create, tn_*_load_*, tn_session_run or that return a handle through a `**` give the
 * caller a new handle, which the matching tn_*_release frees. Handles returned directly (`const tn_type*`, `const
 * char*`) belong to the object they came from and live as long as it does. Passing NULL to a release function is fine.
 *
 * Errors. Every function that can fail returns a tn_status*: NULL when all is well, else a handle with a code and a
 * message that the caller releases. When a function fails its outputs are not touched.
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
TN_API void tn_string_release(char* text);

/* ---- What a program tells people, and what it leaves behind ---- */

/* Hears what people should know while a call is under way and that is no error: that it waits for another process,
 * which file stays although it seemed to be left over. One handler for the whole process, none (NULL) at first. It is
 * called from any thread, one call at a time; the message ends with the call. */
TN_API void tn_set_message_handler(void (*handler)(void* user, const char* message), void* user);
/* Removes everything that this process has written and that has not got its name yet: temporary files and staged
 * artifacts. For a program that a signal is about to end; calls that write files fail afterwards. Waits for a
 * publication that is giving names, so never call it from a signal handler: let a thread wait for the signal. */
TN_API void tn_remove_temporary_files(void);
/* [compiler] Ends every process that builds have started; none can be started afterwards. For a program that a signal
 * is about to end, before tn_remove_temporary_files. */
TN_API void tn_end_children(void);

/* ---- Status ---- */

typedef enum tn_code {
  TN_OK = 0,
  TN_INVALID_ARGUMENT = 1, /* the caller's option, tensor or name is wrong */
  TN_INVALID_MODEL = 2,    /* the file contradicts ONNX or itself */
  TN_NOT_FOUND = 3,        /* a file, tensor or name is missing */
  TN_UNSUPPORTED = 4,      /* valid, but Tenon cannot do it */
  TN_INCOMPATIBLE = 5,     /* made by or for another version */
  TN_RESOURCE_LIMIT = 6,   /* memory, iterations, nesting or size */
  TN_GUARD_VIOLATED = 7,   /* new weights break an assumption of the compiled plan */
  TN_CANCELLED = 8,        /* the caller asked to stop */
  TN_IO = 9,               /* the operating system refused */
  TN_INTERNAL = 10         /* a bug in Tenon */
} tn_code;

/* TN_OK for NULL. */
TN_API tn_code tn_status_code(const tn_status* status);
/* The place (file, node, tensor) and the message; "" for NULL. */
TN_API const char* tn_status_message(const tn_status* status);
TN_API void tn_status_release(tn_status* status);
/* For callbacks that fail. The message is copied. */
TN_API tn_status* tn_status_create(tn_code code, const char* message);

/* ---- Options: keys and values as text, plus tensors and files by name ---- */

TN_API tn_options* tn_options_create(void);
TN_API void tn_options_release(tn_options* options);
/* Sets a key; the last value counts. Keys are checked by the function that takes the options: an unknown one is an
 * error that names the nearest known key.
 *   load:    map=1|0 (0 copies files instead of mapping them), freeze_inputs=1|0 (initializers listed as inputs become
 *            weights), freeze_input:NAME=1 (this one does), external_folder=DIR (for models from memory),
 *            max_nesting=N (graphs in nodes of graphs and functions in functions, the outermost graph counted; 64, at
 *            most 256; what loads is never too deep to run), max_nodes=N (after calls of functions are replaced by
 *            what they do; 5,000,000; when it is not set, functions make at most 100 times the nodes of the file, or
 *            100,000 if that is more)
 *   context: threads=N (0: what the CPU quota allows), memory_limit=BYTES (of a session's runs; three quarters of what
 *            the machine or container has), loop_limit=N (iterations of all loops of a run; 10,000,000),
 *            cpu_isa=NAME (kernels of its sessions use at most this instruction set, one of "isas" in tn_system_json;
 *            without it the one that the environment variable TENON_CPU_ISA names, else the best)
 *   session: provider=cpu|reference, memory_limit=BYTES, loop_limit=N, cached_bindings=N, seed=N, cpu_isa=NAME,
 * threads=N (a run uses at most this many of its context's, the caller's included; 0: all), dim:NAME=N (a symbolic
 * dimension of the model becomes a fixed one), denotation:NAME=N (the same for input dimensions with this denotation),
 *            keep_values=1|0 (every named value that the compiled model computes, outputs once more included, comes
 *            out after them in order of computation); of a model that is compiled already also those of artifact
 *   compile: provider=cpu|reference, provider:MODEL=... (for one model of a group), jobs=N (models at a time),
 *            sources=reference|embed|none (what later partial swaps can draw on: the files that weights came from, a
 *            copy in the artifact, or nothing), defer_weights=1|0 (leave the weights open, to be set later),
 *            pin:NAME=1 (a weight that no swap may change)
 *   artifact: map=1|0, verify_weights=1|0 (check every byte before use), source_dir:DIR=1 (where files that sources
 *            came from are looked for, after the artifact's folder)
 *   weights: partial=1|0 (weights that the new set does not have stay), strict=1|0 (a tensor that the model does not
 *            have is an error), only:NAME=1 (take these alone), keep_sources=1|0 (hold on to tensors in memory, so
 *            that later partial swaps can draw on them), map=1|0 (0 copies files instead of mapping them, so that they
 *            may be rewritten in place), recompile=1|0 (of sessions: see tn_session_set_weights)
 *   save:    embed=1|0 (the weights inside the one ONNX file), overwrite=1|0, weights_name=TEXT (of the weights file,
 *            before the dash), only_changes=1|0 (weights that lie in another weights file are named, not copied),
 *            debug_map=1|0 (names of nodes, for messages and profiles)
 *   build:   see tn_build_create
 *   inputs:  seed=N, dim:NAME=N, shape:NAME=N,N,..., memory_limit=BYTES, sizes=0..5 (which of several extents to take
 *            for dimensions that nobody decides; for tn_model_random_inputs)
 * Whatever the options say, a tensor has at most 64 dimensions.
 */
TN_API tn_status* tn_options_set(tn_options* options, const char* key, const char* value);
/* A tensor that replaces the initializer of this name, with the same element type and shape; the value is retained.
 * When a model is loaded, everything derived from the initializer's values sees the tensor, and external data it would
 * have come from is not read. When a session is made, it replaces a weight that is already part of the model. */
TN_API tn_status* tn_options_set_weight(tn_options* options, const char* name, const tn_value* value);
/* Bytes that stand for an external-data file of this name when a model is loaded. They must outlive the model. */
TN_API tn_status* tn_options_add_file(tn_options* options, const char* name, const void* data, size_t size);

/* ---- Context: what sessions share. NULL means a default one made on first use. ---- */

TN_API tn_status* tn_context_create(const tn_options* options, tn_context** context);
TN_API void tn_context_release(tn_context* context);
/* The most threads that a run in this context uses, the caller's included; of the default context for NULL. */
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

/* "float", "int64", ...; "undefined" when there is no such type. */
TN_API const char* tn_dtype_name(tn_dtype dtype);
/* Bytes that `count` elements take; sub-byte types are packed, lowest bits first. 0 for strings. */
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
/* A tensor with memory of its own; numbers are uninitialised, strings empty. */
TN_API tn_status* tn_tensor_allocate(tn_dtype dtype, const int64_t* dims, size_t rank, tn_value** value);
/* A string tensor; UTF-8, copied. lengths may be NULL when all strings end with a zero byte. */
TN_API tn_status* tn_tensor_create_strings(const int64_t* dims, size_t rank, const char* const* strings,
                                           const size_t* lengths, tn_value** value);
/* Items are shared, not copied. element_type may be NULL when there is at least one item. */
TN_API tn_status* tn_sequence_create(const tn_value* const* items, size_t count, const tn_type* element_type,
                                     tn_value** value);
/* item may be NULL: an empty optional. */
TN_API tn_status* tn_optional_create(const tn_value* item, const tn_type* element_type, tn_value** value);
/* keys: a 1-D int64 or string tensor; values: a 1-D tensor of the same length. */
TN_API tn_status* tn_map_create(const tn_value* keys, const tn_value* values, tn_value** value);
/* A second handle to the same value. */
TN_API tn_value* tn_value_retain(const tn_value* value);
TN_API void tn_value_release(tn_value* value);

TN_API tn_kind tn_value_kind(const tn_value* value);
/* Tensors. */
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
/* Sequences: the number of items, and a new handle to one. */
TN_API size_t tn_sequence_count(const tn_value* value);
TN_API tn_status* tn_sequence_at(const tn_value* value, size_t index, tn_value** item);
/* Optionals: *item is NULL when it is empty. */
TN_API tn_status* tn_optional_get(const tn_value* value, tn_value** item);
/* Maps: keys and values as 1-D tensors. */
TN_API tn_status* tn_map_get(const tn_value* value, tn_value** keys, tn_value** values);
/* The type of a value, as text: "float[2, 3]". Release with tn_string_release. */
TN_API tn_status* tn_value_type_text(const tn_value* value, char** text);

/* A tensor from JSON text: one element ("3", "true", "\"oak\"", "\"nan\"") or nested lists of them ("[[1, 2], [3,
 * 4]]"). dims NULL: the lists give the shape, and one element is a scalar. Else: one element fills that shape, and
 * lists must hold as many elements. A number that the element type cannot hold is an error. */
TN_API tn_status* tn_tensor_from_json(tn_dtype dtype, const int64_t* dims, size_t rank, const char* json,
                                      tn_value** value);
/* What a value holds, as one JSON object: kind, type, and of tensors dtype, shape, min, max and mean of the finite
 * numbers, how many are not finite, and the first max_elements elements (NaN and infinities as text); of sequences,
 * optionals and maps what is inside. Release with tn_string_release. */
TN_API tn_status* tn_value_describe(const tn_value* value, size_t max_elements, char** json);

/* How far a value is from the one it should be. The caller sets `size` to sizeof(tn_comparison); fields that a smaller
 * size leaves out are not written. */
typedef struct tn_comparison {
  size_t size;
  int comparable;         /* 0: kinds, element types, shapes, lengths or keys differ; what follows means nothing then */
  int64_t elements;       /* of all tensors inside */
  int64_t mismatches;     /* elements with |actual - expected| > atol + rtol * |expected|; NaN agrees with NaN */
  int64_t first_mismatch; /* the position of an element, or -1 */
  int64_t nan_pairs;      /* elements that are NaN in both */
  double max_abs;         /* the largest |actual - expected| */
  double max_rel;         /* the largest |actual - expected| / |expected| where expected is not 0 */
  double cosine;          /* of the angle between all elements taken as vectors */
  double allowed_abs;     /* the atol that counted: the largest one, where elements of several types are inside */
  int64_t ties;           /* indices that differ because what they choose between is equal; no mismatches */
} tn_comparison;
/* A negative rtol or atol means the default of the element type: what rounding explains for floats, 0 for the rest. */
TN_API tn_status* tn_value_compare(const tn_value* actual, const tn_value* expected, double rtol, double atol,
                                   tn_comparison* comparison);

/* ---- Files ---- */

/* Every function here that writes a file puts it in place with one rename, or leaves everything as it was, and
 * replaces regular files only: a folder, link, pipe or device of that name is refused, naming the file and its kind. */

/* Whether a file may be written under this path, as far as what has the name now tells. */
TN_API tn_status* tn_file_check_replaceable(const char* path);
TN_API tn_status* tn_file_write(const char* path, const void* data, size_t size);
/* [compiler] The first of these files, or of the files that ONNX models among them keep external data in, which writing
 * `output` would replace; "" when none is. Release with tn_string_release. */
TN_API tn_status* tn_file_replaced_input(const char* output, const char* const* inputs, size_t count, char** input);
/* A whole regular file as text, which must not be larger than max_bytes. Never waits, as for the writer of a pipe.
 * *size (which may be NULL) is the length without the zero at the end. Release with tn_string_release. */
TN_API tn_status* tn_file_read(const char* path, size_t max_bytes, char** text, size_t* size);

/* ---- Array files: NumPy's .npy and .npz ---- */

/* NumPy has no name for some element types (bfloat16, float8, int4, ...) and saves their bytes: `unnamed` says which
 * type such an array has, TN_UNDEFINED refuses it; for other arrays it does not count. The file may stay mapped as long
 * as the value lives: replace it by renaming another over it. */
TN_API tn_status* tn_npy_read(const char* path, tn_dtype unnamed, tn_value** value);
/* Writes a tensor; an existing file is replaced at once. */
TN_API tn_status* tn_npy_write(const char* path, const tn_value* value);
/* Opens an archive of arrays. Values read from it outlive it. */
TN_API tn_status* tn_npz_open(const char* path, tn_npz** npz);
/* The most memory that arrays read from it take together, those that are used where they are in the file not counted;
 * TN_RESOURCE_LIMIT beyond. Unless it is set: three quarters of what the machine or container has, as for tn_npy_read.
 */
TN_API tn_status* tn_npz_limit_memory(tn_npz* npz, int64_t bytes);
TN_API void tn_npz_release(tn_npz* npz);
TN_API size_t tn_npz_count(const tn_npz* npz);
/* The array's name, without ".npy". */
TN_API const char* tn_npz_name(const tn_npz* npz, size_t index);
TN_API tn_status* tn_npz_read(const tn_npz* npz, size_t index, tn_dtype unnamed, tn_value** value);
/* Writes tensors under their names, which must be unique; an existing file is replaced at once. */
TN_API tn_status* tn_npz_write(const char* path, const char* const* names, const tn_value* const* values, size_t count);

/* ---- Types of inputs and outputs ---- */

TN_API tn_kind tn_type_kind(const tn_type* type);
TN_API tn_dtype tn_type_dtype(const tn_type* type); /* tensors: elements; maps: keys */
TN_API int64_t tn_type_rank(const tn_type* type);   /* tensors; -1 when unknown */
/* The extent, or -1 when it is symbolic. */
TN_API int64_t tn_type_dim(const tn_type* type, size_t axis);
/* The extent as text: "3", "batch", "2*n + 1"; "" for an extent without a name. */
TN_API const char* tn_type_dim_text(const tn_type* type, size_t axis);
/* The name that the model gives the extent; "" when it is a number, is computed from others or has no name. */
TN_API const char* tn_type_dim_name(const tn_type* type, size_t axis);
/* Sequences, optionals: what is inside; maps: the value type. NULL for tensors. */
TN_API const tn_type* tn_type_element(const tn_type* type);
/* "float[batch, 3]", "seq(float[...])". */
TN_API const char* tn_type_text(const tn_type* type);

/* ---- Models [compiler] ---- */

/* Reads an ONNX model. The file is mapped; replace it by renaming another over it, never by writing into it. */
TN_API tn_status* tn_model_load_file(tn_context* context, const char* path, const tn_options* options,
                                     tn_model** model);
/* The same from memory, which is copied. External data needs the option external_folder or files in memory. */
TN_API tn_status* tn_model_load_memory(tn_context* context, const void* data, size_t size, const tn_options* options,
                                       tn_model** model);
TN_API void tn_model_release(tn_model* model);
/* Writes the model as ONNX; nothing of the file it was read from is lost. Never leaves a half-written file. */
TN_API tn_status* tn_model_save(const tn_model* model, const char* path);
/* The same into memory; release with tn_string_release. */
TN_API tn_status* tn_model_to_memory(const tn_model* model, char** data, size_t* size);
/* The same model with every node written anew from what Tenon understood of it, in the versions of ops that the model
 * imports. *report: JSON, {"respelled": N, "kept": ["Softmax (version 11)", ...]}; "kept" are ops that have no other
 * form in these versions and stay as they were read. Release both with tn_string_release. */
TN_API tn_status* tn_model_respell(const tn_model* model, char** data, size_t* size, char** report);
/* What reading it found odd: one message each. */
TN_API size_t tn_model_warning_count(const tn_model* model);
TN_API const char* tn_model_warning(const tn_model* model, size_t index);
/* What is in the model, as one JSON object. sections: comma-separated list of "summary", "content" (a hash of the
 * file), "unchanged" (whether its files are certainly still the same), "graph", "ops", "weights", "hashed_weights" (the
 * same with a hash of each one's content, which reads them all), "plan", "tolerances" (what tn_model_compare allows for
 * each output); NULL means summary. Release with tn_string_release. */
TN_API tn_status* tn_model_describe(const tn_model* model, const char* sections, char** json);
/* "producer_name", "producer_version", "graph_name", "domain", "description", "graph_description", "version",
 * "ir_version"; NULL when there is no such field. */
TN_API const char* tn_model_property(const tn_model* model, const char* name);
TN_API size_t tn_model_metadata_count(const tn_model* model);
TN_API const char* tn_model_metadata_key(const tn_model* model, size_t index);
TN_API const char* tn_model_metadata_value(const tn_model* model, size_t index);
/* What the model takes and gives, in the order of a session's inputs and outputs. */
TN_API size_t tn_model_input_count(const tn_model* model);
TN_API const char* tn_model_input_name(const tn_model* model, size_t index);
TN_API const tn_type* tn_model_input_type(const tn_model* model, size_t index);
/* 1 when the input may be left out because the model gives it a value (an initializer listed as input). */
TN_API int tn_model_input_has_default(const tn_model* model, size_t index);
TN_API size_t tn_model_output_count(const tn_model* model);
TN_API const char* tn_model_output_name(const tn_model* model, size_t index);
TN_API const tn_type* tn_model_output_type(const tn_model* model, size_t index);

/* Makes inputs for trying a model out: numbers, strings, lists and maps that the nodes which read them accept (indices
 * inside what they index, divisors that are not zero, ...), the same for the same seed on every machine.
 *   inputs   one per model input, in the order of a session's. NULL on entry: the caller gets a new handle (or NULL
 *            still, when the model gives the input a value). A value of the caller's stays as it is, and its shape
 *            decides the symbolic dimensions it names. A dimension nobody decides gets an extent that the nodes
 *            accept, as far as their shape rules tell: a small one with the option sizes=0 (the default), other ones
 *            with 1 to 5. The same shapes come back where a model accepts no others.
 */
TN_API tn_status* tn_model_random_inputs(const tn_model* model, const tn_options* options, tn_value** inputs,
                                         size_t input_count);

/* Whether a value of the model (an output, or another value by its name) is what it should be, by the one measure that
 * every command uses. What may differ follows from the nodes that the value depends on and their element types:
 *   nothing            strings, booleans, integers, and numbers that are only moved
 *   rounding           a share of the largest expected number: units in the last place of the coarsest type on the
 *                      way, more of them for more roundings and for longer sums
 *   steps              where numbers are quantized on the way, some steps of 1/127 of the largest, or of integers
 *   ties               indices that an ArgMax, ArgMin or TopK chose, where `chosen_from` shows that rounding explains
 *                      the other choice. It is the expected value of the name "chosen_from" in the section
 *                      "tolerances" of tn_model_describe; NULL when there is none.
 * tn_value_compare is for tolerances of one's own. */
TN_API tn_status* tn_model_compare(const tn_model* model, const char* name, const tn_value* actual,
                                   const tn_value* expected, const tn_value* chosen_from, tn_comparison* comparison);

/* ---- Sessions ---- */

/* [compiler] Compiles the model and makes it ready to run. The model may be released afterwards. */
TN_API tn_status* tn_session_create(tn_context* context, const tn_model* model, const tn_options* options,
                                    tn_session** session);
TN_API void tn_session_release(tn_session* session);

TN_API size_t tn_session_input_count(const tn_session* session);
TN_API const char* tn_session_input_name(const tn_session* session, size_t index);
TN_API const tn_type* tn_session_input_type(const tn_session* session, size_t index);
/* 1 when the input may be left out because the model gives it a value (an initializer listed as input). */
TN_API int tn_session_input_has_default(const tn_session* session, size_t index);
TN_API size_t tn_session_output_count(const tn_session* session);
TN_API const char* tn_session_output_name(const tn_session* session, size_t index);
TN_API const tn_type* tn_session_output_type(const tn_session* session, size_t index);
/* The node that computes an output; "" when it is an input or a weight. */
TN_API const char* tn_session_output_node(const tn_session* session, size_t index);

/* Bytes of run memory in use now and at most so far. */
TN_API void tn_session_memory(const tn_session* session, int64_t* used, int64_t* peak);

/* ---- Where new weights come from: tensors by name ---- */

/* An ONNX model, a .safetensors or .npz file, or a folder with files of the same names and layout as those that the
 * weights came from. Names of an ONNX model's weights are those tn_artifact_describe lists. */
TN_API tn_status* tn_source_open(const char* path, tn_source** source);
/* Tensors in memory. Values are retained; their elements may change again once a call that uses the source returns. */
TN_API tn_source* tn_source_create(void);
TN_API tn_status* tn_source_add(tn_source* source, const char* name, const tn_value* value);
TN_API void tn_source_release(tn_source* source);
/* The tensors of a source; a folder has none before it is used with a model. */
TN_API size_t tn_source_count(const tn_source* source);
TN_API const char* tn_source_name(const tn_source* source, size_t index);

/* ---- Artifacts: compiled models with their weights. Immutable. ---- */

/* [compiler] Compiles models into one artifact; weights that are the same are there once. names must be unique.
 * Nothing is computed yet from large weights: that happens when the artifact is saved or a session is made. */
TN_API tn_status* tn_compile(tn_context* context, const tn_model* const* models, const char* const* names, size_t count,
                             const tn_options* options, tn_artifact** artifact);
/* [compiler] The key of what a compile with these options would give: of the model's files, the options and the
 * version. Artifacts keep it (see "made_from" in tn_artifact_describe). Release with tn_string_release. */
TN_API tn_status* tn_compile_key(const tn_model* model, const tn_options* options, char** key);
/* Opens the context files X_ctx.onnx of models that share one weights file. It is mapped and no weight is read. */
TN_API tn_status* tn_artifact_load(tn_context* context, const char* const* paths, size_t count,
                                   const tn_options* options, tn_artifact** artifact);
/* One context file in memory, which is copied. Its weights are embedded, or in `folder`. */
TN_API tn_status* tn_artifact_load_memory(tn_context* context, const void* data, size_t size, const char* folder,
                                          const tn_options* options, tn_artifact** artifact);
/* 1 for an ONNX file with a context node, Tenon's or another program's; 0 for other models. */
TN_API tn_status* tn_is_context_file(const char* path, int* is_context);
/* What a context file of Tenon says of itself, whether its weights are there or not, as one JSON object: model,
 * embedded, weights_file, content_id (of the weights), plan_key, source_file, made_by, and validation: what
 * tn_context_file_note_validation noted, or "". Release with tn_string_release. */
TN_API tn_status* tn_context_file_describe(const char* path, char** json);
/* Notes in a context file how its comparison with the model it was made from ended, in one word. The file is replaced
 * at once; its weights stay. Files that are saved anew, with other weights or not, have no note. */
TN_API tn_status* tn_context_file_note_validation(const char* path, const char* verdict);
/* Removes what interrupted publications left in a folder: their temporary folders, and weights files called
 * "<weights_name>-<8 digits>.bin" that no context file there names, or with "" only those that were left over.
 * Publishing does the latter. */
TN_API tn_status* tn_folder_tidy(const char* folder, const char* weights_name);
/* Gives the rest of a group its names where a publication into this folder was stopped between its first context file
 * and its last. Does nothing when there was none. */
TN_API tn_status* tn_folder_complete(const char* folder);
TN_API void tn_artifact_release(tn_artifact* artifact);
TN_API size_t tn_artifact_model_count(const tn_artifact* artifact);
TN_API const char* tn_artifact_model_name(const tn_artifact* artifact, size_t model);
/* One JSON object. sections: comma-separated list of "models" (names, inputs, outputs, plan keys, sizes), "packed"
 * (packed tensors, what they are made of, who uses them), "sources" (source weights, and whether they can be swapped),
 * "weight_program", "plan"; NULL means models. Release with tn_string_release. */
TN_API tn_status* tn_artifact_describe(const tn_artifact* artifact, const char* sections, char** json);
/* Checks every byte: checksums, and that packed weights are what the weight program makes of the sources, where these
 * are available. *json (which may be NULL) says what was checked. */
TN_API tn_status* tn_artifact_verify(const tn_artifact* artifact, char** json);
/* The same models with other weights. The artifact stays as it is. *report as for tn_session_set_weights. */
TN_API tn_status* tn_artifact_bake(tn_context* context, const tn_artifact* artifact, const tn_source* source,
                                   const tn_options* options, tn_artifact** baked, char** report);
/* The same models without the weights that can be set. */
TN_API tn_status* tn_artifact_strip(const tn_artifact* artifact, tn_artifact** stripped);
/* Writes the source weights as .safetensors. Fails, naming them, when some are not available or are of a type that the
 * format has no name for (strings, complex128, ...); nothing is written then. */
TN_API tn_status* tn_artifact_export(const tn_artifact* artifact, const char* path);

/* Writes context files and one weights file into a folder, which is made if it is missing, so that at any moment, also
 * after a crash, a context file there is whole, is the old one or the new one, and so are its weights. */
TN_API tn_status* tn_artifact_save(const tn_artifact* artifact, const char* folder, const char* const* names,
                                   size_t count, const tn_options* options);
/* The same in two steps: what was written can be tried before it gets its names. */
TN_API tn_status* tn_artifact_stage(const tn_artifact* artifact, const char* folder, const char* const* names,
                                    size_t count, const tn_options* options, tn_publication** publication);
/* Where the context file of a model is now. */
TN_API const char* tn_publication_path(const tn_publication* publication, size_t model);
/* The name and size of the weights file; "" and the size of what is embedded. */
TN_API const char* tn_publication_weights_name(const tn_publication* publication);
TN_API int64_t tn_publication_weights_bytes(const tn_publication* publication);
TN_API tn_status* tn_publication_publish(tn_publication* publication);
/* Removes what was not published. */
TN_API void tn_publication_release(tn_publication* publication);

/* A session with one of an artifact's models, by number. The artifact may be released afterwards. */
TN_API tn_status* tn_artifact_session(tn_context* context, const tn_artifact* artifact, size_t model,
                                      const tn_options* options, tn_session** session);

/* ---- Builds [compiler]: models to files, with everything that belongs to it ---- */

/* A build takes models to context files that share one weights file. It chooses names, leaves alone what is up to date,
 * goes on with the others when a model fails, compares each result with the reference interpreter before anything gets
 * its name, and reports on every model. One thread at a time, but for tn_build_cancel. Options:
 *   output=FILE (for one model; excludes output_dir), output_dir=DIR (made if it is missing; needed for several models;
 *   without either the results go beside the first model), weights_name=TEXT (of the weights file, before the dash),
 *   overwrite=1|0 (replace context files that exist), embed=1|0, compiler=NAME (one of tn_compilers_json), provider,
 *   cpu_isa, sources, defer_weights, pin:NAME=1, freeze_inputs, freeze_input:NAME=1, jobs, threads (as for compile,
 * load and context), keep_going=1|0 (1: a model that fails does not stop the others; 0: nothing is written then),
 *   validate=1|0 (compare the results, 1 unless it is set), validate_existing=1|0 (also those that are up to date),
 *   validate_seconds=N (that the reference may take for a set of inputs, and then the compiled model; 600),
 *   dim:NAME=N, shape:NAME=N,N,... and input:NAME=FILE.npy|VALUE (what they are compared with),
 *   program=PATH (the `tenon` program that compares),
 *   compile_seconds=N (that a compiler in a process of its own may be silent; 3600)
 * Results are compared in a process of its own, where a crash or a hang fails one model only: by the program `tenon`,
 * which is found beside the library or in the bin folder of the installation. Where it is not, the build is refused
 * with TN_NOT_FOUND before any model is compiled; name the program, or set validate=0. */
TN_API tn_status* tn_build_create(const tn_options* options, tn_build** build);
TN_API void tn_build_release(tn_build* build);
/* Adds a model. Options: provider (for this model alone). */
TN_API tn_status* tn_build_add_model(tn_build* build, const char* path, const tn_options* options);

typedef enum tn_build_event {
  TN_BUILD_PROGRESS = 0, /* what is done now */
  TN_BUILD_WARNING = 1,  /* what people should know */
  TN_BUILD_DETAIL = 2    /* what they may ask for */
} tn_build_event;
/* The number of no model. */
#define TN_BUILD_NO_MODEL ((size_t)-1)
/* Hears what a build does, from any thread but one call at a time; `model` is the number of the model that the text is
 * about, or TN_BUILD_NO_MODEL. The text ends with the call. */
TN_API tn_status* tn_build_listen(tn_build* build,
                                  void (*listener)(void* user, tn_build_event event, size_t model, const char* text),
                                  void* user);

/* The steps of a build. Each does what comes before it, so a program that only wants results calls tn_build_run alone.
 * Prepare checks options and chooses names; nothing is read or written. Load reads the models; one that cannot be read
 * is no error but a failed model. Run compiles, compares and publishes, once; it succeeds also when models fail, so
 * look at the report. */
TN_API tn_status* tn_build_prepare(tn_build* build);
TN_API tn_status* tn_build_load(tn_build* build);
/* *report is one JSON object: compiler, status ("compiled", "up to date" or "failed" when any model has), folder,
 * seconds, threads, written (files), models: [{model, name, status ("compiled", "up to date", "failed", "skipped"),
 * output, error, seconds, nodes, steps, bytes, packed_bytes, shared: {tensors, bytes, with}, validation: {verdict,
 * message, outputs, tried, seconds}, warnings}], group: {weights_file, bytes, packed_bytes, bytes_without_sharing,
 * bytes_saved, tensors, stored_twice} or null. Release with tn_string_release. */
TN_API tn_status* tn_build_run(tn_build* build, char** report);
/* From any thread: tn_build_run ends soon with TN_CANCELLED, or has published already. A model that is being compiled
 * in this process is finished first. */
TN_API void tn_build_cancel(tn_build* build);

TN_API size_t tn_build_model_count(const tn_build* build);
/* The path that the result of a model gets; "" before tn_build_prepare. The bytes of the path, where the report has
 * text.
 */
TN_API const char* tn_build_output(const tn_build* build, size_t model);
/* "waiting", or as in the report; and why the model has failed, or "". */
TN_API const char* tn_build_status(const tn_build* build, size_t model);
TN_API const char* tn_build_error(const tn_build* build, size_t model);
/* A loaded model; *loaded is NULL when it has failed or was not loaded yet. */
TN_API tn_status* tn_build_model(const tn_build* build, size_t model, tn_model** loaded);

/* Compares a compiled model with the model it was made from, as a build does before it publishes: in a process of its
 * own, on made-up inputs. *json is one object: verdict ("same", "different", "inconclusive" when the reference cannot
 * say, "failed"), message, outputs, tried (the shapes), seconds. Options: program, validate_seconds, cpu_isa, threads,
 * freeze_inputs, freeze_input:NAME, dim:NAME, shape:NAME and input:NAME as for tn_build_create; seed=N, samples=N (sets
 * of inputs; 0: one for each shape), rtol=X and atol=X (instead of what rounding explains), memory_limit=BYTES (of each
 * run). Release with tn_string_release. */
TN_API tn_status* tn_validate(const char* model, const char* context, const tn_options* options, char** json);
/* The report of a build as one HTML page that needs nothing else. Release with tn_string_release. */
TN_API tn_status* tn_build_report_html(const char* report, char** html);
/* The compilers that can be chosen, probed now: a JSON list of {name, alias, description, usable, reason}, where alias
 * and reason may be null. Release with tn_string_release. */
TN_API tn_status* tn_compilers_json(char** json);

/* ---- Replacing the weights of sessions ---- */

/* Takes new weights by name. Runs that are under way finish with the old ones, later runs use the new ones, and none
 * waits. What does not fit is refused with everything that is wrong, and the old weights stay.
 * *report (which may be NULL): {replaced, kept, ignored, open, not_finite, warnings, slots, slots_redone, bytes_redone,
 * seconds, recompiled}; open: weights that are still to be set before the model can run; warnings: sentences, one for
 * each attribute (an epsilon, an alpha) that another ONNX model has another number for, as attributes stay what they
 * are. Weights that change what the plan was decided by (the elements of a shape, say) are refused with
 * TN_GUARD_VIOLATED. With the option recompile=1 the model is compiled again instead, and the session switches to the
 * new plan and its weights at once. This needs libtenon and the model: the one that the session was made from, or the
 * file that a compiled model was made from, in its folder or one that source_dir named. Inputs stay what they are;
 * types of outputs may change. recompiled is null, or {guards: [{weight, asker, property, before, after}], seconds}. */
TN_API tn_status* tn_session_set_weights(tn_session* session, const tn_source* source, const tn_options* options,
                                         char** report);
/* The same for several sessions, which switch together. *report is a list in their order. */
TN_API tn_status* tn_sessions_set_weights(tn_session* const* sessions, size_t count, const tn_source* source,
                                          const tn_options* options, char** report);
/* The weights a session has now, or those of an artifact's model. Immutable, shared, cheap to hold. */
TN_API tn_status* tn_session_weights(const tn_session* session, tn_weights** weights);
TN_API tn_status* tn_artifact_weights(const tn_artifact* artifact, size_t model, tn_weights** weights);
TN_API void tn_weights_release(tn_weights* weights);
/* Switches a session to weights of the same plan: those of another session or artifact. No byte moves. */
TN_API tn_status* tn_session_use_weights(tn_session* session, const tn_weights* weights);
/* The same for several sessions, which switch together: weights[i] are for sessions[i]. */
TN_API tn_status* tn_sessions_use_weights(tn_session* const* sessions, const tn_weights* const* weights, size_t count);

/* ---- Runs ---- */

/* Settings and results of runs that are more than values: cancelling and profiling. May be NULL in tn_session_run. */
TN_API tn_run* tn_run_create(void);
TN_API void tn_run_release(tn_run* run);
/* Makes runs that use this handle stop soon with TN_CANCELLED, from any thread; reset allows new ones. */
TN_API void tn_run_cancel(tn_run* run);
TN_API void tn_run_reset(tn_run* run);
/* Makes run and leader share one state of being cancelled: that of leader. Call it before run is used. */
TN_API void tn_run_follow(tn_run* run, const tn_run* leader);
/* For callers who learn of a wish to stop only in the thread that runs, such as an interpreter with signals: runs that
 * use this handle call must_stop(user) in their own thread about every 50 ms, and stop with TN_CANCELLED when it
 * returns other than 0. Runs shorter than that never call it. NULL: nobody is asked. Call it before run is used. */
TN_API void tn_run_ask(tn_run* run, int (*must_stop)(void* user), void* user);
/* Records the time of every step of the next run. */
TN_API void tn_run_enable_profile(tn_run* run, int enable);
/* Steps of the last profiled run: a JSON array of {name, kernel, variant, depth, start_us, duration_us}; depth counts
 * the sub-graphs around a step. */
TN_API tn_status* tn_run_profile_json(const tn_run* run, char** json);

/* Runs the model.
 *   inputs   one per session input, in order; NULL takes the input's default
 *   outputs  one per session output, in order. NULL on entry: Tenon allocates, and the caller gets a new handle. A
 *            tensor of the caller's on entry: the result is written into its memory (dtype and dims must match); the
 *            handle stays the caller's.
 *   wanted   one flag per output, or NULL for all; an output that is not wanted stays NULL
 */
TN_API tn_status* tn_session_run(const tn_session* session, tn_run* run, const tn_value* const* inputs,
                                 size_t input_count, const unsigned char* wanted, tn_value** outputs,
                                 size_t output_count);

/* --- Providers of other compilers ------------------------------------------------------------------------- */

/* Somebody who runs parts of models that a compiler of theirs made. A part is a blob in the weights of a compiled
 * model; steps name the provider that runs it. Functions are called from any thread, several at once; statuses are made
 * with tn_status_create. `name` is copied, `user` goes to every function. */
typedef struct tn_provider {
  size_t size; /* sizeof(tn_provider) */
  const char* name;
  void* user;
  /* Makes what runs from a blob. The blob stays valid while the result runs, but may be gone when it is closed. */
  tn_status* (*open)(void* user, const void* blob, size_t bytes, void** opened);
  /* Computes every output, each a new value that the caller releases. Absent inputs are NULL. */
  tn_status* (*run)(void* user, void* opened, const tn_value* const* inputs, size_t input_count, tn_value** outputs,
                    size_t output_count);
  /* May be NULL. */
  void (*close)(void* user, void* opened);
} tn_provider;

/* For all sessions of the process, for good. Fails for a name that is taken. */
TN_API tn_status* tn_provider_register(const tn_provider* provider);

#ifdef __cplusplus
}
#endif

#endif /* TENON_TENON_H_ */
