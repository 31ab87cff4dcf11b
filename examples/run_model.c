/* Runs mlp.onnx of make_models.py with buffers of its own. Usage: run_model MODEL */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

/* Ends the program with the message of an error. */
static void check(tn_status* status) {
  if (!status) return;
  fprintf(stderr, "error: %s\n", tn_status_message(status));
  tn_status_release(status);
  exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  tn_model* model = NULL;
  tn_session* session = NULL;
  check(tn_model_load_file(NULL, argv[1], NULL, &model));
  check(tn_session_create(NULL, model, NULL, &session));
  tn_model_release(model);

  for (size_t i = 0; i < tn_session_input_count(session); ++i)
    printf("input %s %s\n", tn_session_input_name(session, i), tn_type_text(tn_session_input_type(session, i)));
  for (size_t i = 0; i < tn_session_output_count(session); ++i)
    printf("output %s %s\n", tn_session_output_name(session, i), tn_type_text(tn_session_output_type(session, i)));

  /* Neither buffer is copied: the session reads x and writes y. */
  float x[2][16], y[2][10];
  for (int i = 0; i < 32; ++i) x[i / 16][i % 16] = (float)i / 32;
  const int64_t x_dims[] = {2, 16}, y_dims[] = {2, 10};
  tn_value *input = NULL, *output = NULL;
  check(tn_tensor_create(TN_FLOAT32, x_dims, 2, x, sizeof x, NULL, NULL, &input));
  check(tn_tensor_create(TN_FLOAT32, y_dims, 2, y, sizeof y, NULL, NULL, &output));
  const tn_value* inputs[] = {input};
  check(tn_session_run(session, NULL, inputs, 1, NULL, &output, 1));
  for (int row = 0; row < 2; ++row) {
    float sum = 0;
    for (int i = 0; i < 10; ++i) sum += y[row][i];
    printf("row %d sums to %.3f\n", row, sum);
  }

  tn_value_release(input);
  tn_value_release(output);
  tn_session_release(session);
  return 0;
}
