#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the model in the file, runs it on ones and prints each output as one line to `file`. 0 when all went well;
 * else 1, after printing what is wrong. */
int complete_example(const char* path, const char* file);

#ifdef __cplusplus
}
#endif
