#pragma once

#include <stdexcept>
#include <string>

namespace cli {

enum Exit : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,       // unknown flag, bad value, flags that exclude each other
  kCannotLoad = 3,  // the model could not be loaded
  kCannotRun = 4,   // it could not be run
};

// Ends a command with an exit code and a message for stderr.
class Failure : public std::runtime_error {
 public:
  Failure(Exit code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Exit code() const { return code_; }

 private:
  Exit code_;
};

}  // namespace cli
