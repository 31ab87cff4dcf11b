// Runs mlp.onnx of make_models.py, then again with limits, a profile and a cancelled run. Usage: run_model MODEL
#include <fstream>
#include <iostream>
#include <iterator>
#include <tenon/tenon.hpp>
#include <thread>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " MODEL\n";
    return 2;
  }

  // From a file, or from bytes that are already in memory.
  tenon::Model model = tenon::Model::load(argv[1]);
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  model = tenon::Model::from_memory(bytes);
  std::cout << "graph " << model.property("graph_name") << ", IR " << model.property("ir_version") << "\n";
  for (const auto& [key, value] : model.metadata()) std::cout << key << ": " << value << "\n";

  // Sessions of one context share its threads and its limits.
  const tenon::Context context({{"threads", "2"}, {"memory_limit", "100000000"}});
  const tenon::Session session(context, model);
  const tenon::TypeView type = session.input_type(0);
  std::cout << session.input_name(0) << " is " << type.text() << ": any " << type.dim_text(0) << ", "
            << (*type.dims())[1] << " features\n";

  // The input is read where it is; the output is Tenon's.
  std::vector<float> x(3 * 16, 0.5f);
  std::vector<tenon::Value> outputs = session.run({tenon::Value::tensor<float>({3, 16}, x)});
  std::cout << "Tenon's output has " << outputs[0].data<float>().size() << " elements\n";

  // The same into memory of the caller's, with the time of every step.
  std::vector<float> y(3 * 10);
  std::vector<tenon::Value> own{tenon::Value::tensor<float>({3, 10}, y)};
  const std::vector<tenon::Value> inputs{tenon::Value::tensor<float>({3, 16}, x)};
  tenon::Run run;
  run.enable_profile();
  session.run(inputs, own, &run);
  std::cout << "own output begins with the same number: " << (y[0] == outputs[0].data<float>()[0]) << "\n";
  std::cout << "profiled: " << (run.profile_json().find("Gemm") != std::string::npos) << "\n";
  std::cout << "peak memory is known: " << (session.memory().peak > 0) << "\n";

  // Any thread may stop a run.
  std::thread([&] { run.cancel(); }).join();
  try {
    session.run(inputs, &run);
  } catch (const tenon::Error& error) {
    std::cout << "cancelled: " << (error.code() == TN_CANCELLED) << "\n";
  }

  // Errors name the place.
  std::vector<float> narrow(15);
  try {
    session.run({tenon::Value::tensor<float>({1, 15}, narrow)});
  } catch (const tenon::Error& error) {
    std::cout << "refused: " << error.what() << "\n";
  }
} catch (const tenon::Error& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
