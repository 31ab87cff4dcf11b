#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace tenon::build {

struct ChildResult {
  std::string output;      // of its standard output
  std::string problem;     // "" when it ended well, else how it ended: "crashed (Killed)"
  bool timed_out = false;  // it was silent for too long, and killed
};

// Runs a program with these arguments, in a process group of its own and with no signal blocked, and reads its standard
// output to the end. The limit starts anew whenever it writes something. Once *cancelled is set (it may be null), the
// process is killed.
ChildResult run_child(const std::string& program, std::vector<std::string> arguments, std::chrono::milliseconds limit,
                      const std::atomic<bool>* cancelled);

// Kills every child that runs, with its own children; none can be started afterwards. For a program that is ending.
void kill_children();

}  // namespace tenon::build
