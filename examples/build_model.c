/* Optimizes, analyzes and builds a model. Usage: build_model MODEL; the results go to the folder MODEL.built */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

/* Ends the program with the message of an error. */
static void check(tn_status* status) {
  if (!status) return;
  fprintf(stderr, "error: %s\n", tn_status_message(status));
  tn_status_release(status);
  exit(1);
}

/* Reports are JSON; only one sentence of them, or one number, is looked for here. */
static void say(const char* step, const char* report, const char* sentence, const char* otherwise) {
  printf("%s: %s\n", step, strstr(report, sentence) ? sentence : otherwise);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  char optimized[4096], folder[4096];
  snprintf(optimized, sizeof optimized, "%s.optimized.onnx", argv[1]);
  snprintf(folder, sizeof folder, "%s.built", argv[1]);

  /* The normal form. The second time there is nothing to do, and no weight is read. */
  for (int time = 0; time < 2; ++time) {
    tn_options* options = tn_options_create();
    check(tn_options_set(options, "overwrite", "1"));
    char* report = NULL;
    check(tn_optimize(time == 0 ? argv[1] : optimized, optimized, options, &report));
    say("optimize", report, "already normalized", "done");
    tn_string_release(report);
    tn_options_release(options);
  }

  /* What will run each node. */
  tn_model* model = NULL;
  char* analysis = NULL;
  check(tn_model_load_file(NULL, optimized, NULL, &model));
  check(tn_model_analyze(model, NULL, &analysis));
  const char* fallbacks = strstr(analysis, "\"fallbacks\": ");
  printf("analyze: the reference runs %ld node(s)\n", fallbacks ? strtol(fallbacks + 13, NULL, 10) : -1);
  tn_string_release(analysis);
  tn_model_release(model);

  /* From the model to compiled files that were compared with the reference. The second time nothing runs. */
  for (int time = 0; time < 2; ++time) {
    tn_options* options = tn_options_create();
    check(tn_options_set(options, "staged", "1"));
    check(tn_options_set(options, "output_dir", folder));
    tn_build* build = NULL;
    check(tn_build_create(options, &build));
    check(tn_build_add_model(build, optimized, NULL));
    char* report = NULL;
    check(tn_build_run(build, &report));
    say("build", report, "up to date", "done");
    tn_string_release(report);
    tn_build_release(build);
    tn_options_release(options);
  }
  return 0;
}
