// Optimizes, analyzes and builds a model whose weights are in memory. Usage: build_model MODEL; the results go to the
// folder MODEL.built
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <tenon/tenon.hpp>

namespace {

// Reports are JSON; only one sentence of them, or one number, is looked for here.
bool says(const std::string& report, const std::string& sentence) { return report.find(sentence) != std::string::npos; }

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " MODEL\n";
    return 2;
  }
  const std::string folder = std::string(argv[1]) + ".built", optimized = folder + "/model.onnx";
  std::filesystem::create_directories(folder);

  // A model without a file: its weights are written once, from where they are.
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const tenon::Model model = tenon::Model::from_memory(bytes);
  const tenon::Options options{{"overwrite", "1"}, {"capability:fuse-gelu", "1"}};
  std::cout << "optimized: " << says(tenon::save_optimized(model, optimized, options), "\"written\": \"model\"")
            << "\n";

  // The file says by its stamp that nothing is to be done.
  std::cout << "again: " << says(tenon::optimize_file(optimized, optimized, options), "already normalized") << "\n";

  // What will run each node, and which capability would help.
  const std::string analysis = tenon::analyze(model, {{"provider", "cpu"}});
  const std::string key = "\"fallbacks\": ";
  std::cout << "the reference runs " << std::stol(analysis.substr(analysis.find(key) + key.size())) << " node(s)\n";

  // From models to compiled files. The second build finds everything up to date.
  for (int time = 0; time < 2; ++time) {
    tenon::Build build({{"staged", "1"}, {"output_dir", folder}, {"capability:fuse-gelu", "1"}});
    build.add(optimized);
    const std::string report = build.run();
    std::cout << std::filesystem::path(build.output(0)).filename().string() << ": "
              << (says(report, "up to date") ? "up to date" : "done") << "\n";
  }
  return 0;
} catch (const tenon::Error& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
