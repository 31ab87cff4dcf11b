/* The whole way through the C interface: load, look, fill, run, print, release. */
#include "api/complete_example.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

/* Prints and releases an error; 0 when there is none. */
static int failed(FILE* out, tn_status* status) {
  if (!status) return 0;
  fprintf(out, "error %d: %s\n", (int)tn_status_code(status), tn_status_message(status));
  tn_status_release(status);
  return 1;
}

/* A tensor of ones for an input whose symbolic extents become 2. */
static tn_status* make_ones(const tn_type* type, tn_value** value) {
  int64_t dims[8];
  size_t rank = (size_t)tn_type_rank(type);
  for (size_t i = 0; i < rank && i < 8; ++i) dims[i] = tn_type_dim(type, i) < 0 ? 2 : tn_type_dim(type, i);
  tn_status* status = tn_tensor_allocate(tn_type_dtype(type), dims, rank, value);
  if (status) return status;
  float* data = (float*)tn_tensor_data(*value);
  for (int64_t i = 0; i < tn_tensor_count(*value); ++i) data[i] = 1.0f;
  return NULL;
}

static void print_output(FILE* out, const char* name, const tn_value* value) {
  const float* data = (const float*)tn_tensor_data(value);
  fprintf(out, "%s:", name);
  for (int64_t i = 0; i < tn_tensor_count(value); ++i) fprintf(out, " %g", (double)data[i]);
  fprintf(out, "\n");
}

static int run(FILE* out, const tn_session* session) {
  size_t input_count = tn_session_input_count(session), output_count = tn_session_output_count(session);
  tn_value** inputs = (tn_value**)calloc(input_count, sizeof *inputs);
  tn_value** outputs = (tn_value**)calloc(output_count, sizeof *outputs);
  int problem = 0;
  for (size_t i = 0; i < input_count && !problem; ++i) {
    fprintf(out, "input %s %s\n", tn_session_input_name(session, i), tn_type_text(tn_session_input_type(session, i)));
    problem = failed(out, make_ones(tn_session_input_type(session, i), &inputs[i]));
  }
  if (!problem)
    problem = failed(
        out, tn_session_run(session, NULL, (const tn_value* const*)inputs, input_count, NULL, outputs, output_count));
  for (size_t i = 0; i < output_count; ++i) {
    if (outputs[i]) print_output(out, tn_session_output_name(session, i), outputs[i]);
    tn_value_release(outputs[i]);
  }
  for (size_t i = 0; i < input_count; ++i) tn_value_release(inputs[i]);
  free(inputs);
  free(outputs);
  return problem;
}

int complete_example(const char* path, const char* file) {
  FILE* out = fopen(file, "w");
  if (!out) return 1;
  tn_model* model = NULL;
  tn_session* session = NULL;
  int problem = failed(out, tn_model_load_file(NULL, path, NULL, &model)) ||
                failed(out, tn_session_create(NULL, model, NULL, &session));
  tn_model_release(model); /* a session does not need its model */
  if (!problem) problem = run(out, session);
  tn_session_release(session);
  fclose(out);
  return problem;
}
