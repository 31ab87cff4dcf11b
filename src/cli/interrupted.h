#pragma once

#include <string>
#include <vector>

namespace cli {

// A group whose publication was stopped between its first context file and its last one.
struct InterruptedGroup {
  std::string weights_file, content_id;  // of the new group
  std::vector<std::string> missing;      // context files that are still the old ones, or are not there
  // "'a_ctx.onnx', 'b_ctx.onnx'".
  std::string missing_text() const;
};

// What staging folders in a folder tell, apart from those whose maker is at work. Groups of which no context file has
// its name yet are left out: the folder is then as it was.
std::vector<InterruptedGroup> interrupted_groups(const std::string& folder);

}  // namespace cli
