#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cli {

// A program that answers lines with lines. It is stopped except while it is waited for, and ends with this process.
class Child {
 public:
  // Looks for the program along PATH. Failure(kFailed) when it cannot be started.
  explicit Child(const std::vector<std::string>& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void write_line(const std::string& line);
  // Lets the program go on until it has written a line; "" when it has ended.
  std::string read_line();

 private:
  pid_t pid_ = 0;
  int socket_ = -1;   // its input and output
  std::string rest_;  // read after the last line
};

}  // namespace cli
