#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace cli {

struct ChildResult {
  std::string output;      // of its standard output
  std::string problem;     // "" when it ended well, else how it ended: "crashed (Killed)"
  bool timed_out = false;  // it was silent for too long, and killed
};

// Runs this program itself with these arguments, in a process group of its own, and reads its standard output to the
// end. The limit starts anew whenever it writes something.
ChildResult run_child(std::vector<std::string> arguments, std::chrono::seconds limit);

// Kills every child that runs, with its own children; none can be started afterwards. For a program that is ending.
void kill_children();

// In a child: ends it when its parent ends. `parent` is the number of the process that started it.
void end_with_parent(int parent);

}  // namespace cli
