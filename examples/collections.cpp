// Strings, sequences, optionals and maps, through collections.onnx of make_models.py. Usage: collections MODEL
#include <iostream>
#include <tenon/tenon.hpp>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " MODEL\n";
    return 2;
  }
  using tenon::Value;
  const tenon::Session session(tenon::Model::load(argv[1]));
  for (size_t i = 0; i < session.input_count(); ++i)
    std::cout << session.input_name(i) << " is " << session.input_type(i).text() << "\n";

  const std::vector<std::string> words{"oak", "ash"};
  std::vector<float> first{1, 2}, second{3};
  const std::vector<Value> parts{Value::tensor<float>({2}, first), Value::tensor<float>({1}, second)};
  std::vector<int64_t> keys{1, 3};
  std::vector<float> weights{0.5f, 0.25f};
  const Value features = Value::map(Value::tensor<int64_t>({2}, keys), Value::tensor<float>({2}, weights));

  const std::vector<Value> outputs = session.run({Value::strings({2}, words), Value::sequence(parts),
                                                  Value::optional(Value::tensor<float>({2}, first)), features});

  std::cout << "words: " << outputs[0].string(0) << " " << outputs[0].string(1) << "\n";
  std::cout << "joined:";
  for (float x : outputs[1].data<const float>()) std::cout << " " << x;
  std::cout << "\ngiven: " << outputs[2].data<const bool>()[0] << "\n";
  std::cout << "reversed:";
  for (size_t i = 0; i < outputs[3].size(); ++i) std::cout << " " << outputs[3].at(i).type_text();
  std::cout << "\ndense:";
  for (float x : outputs[4].data<const float>()) std::cout << " " << x;
  const auto [names, scores] = outputs[5].at(0).keys_and_values();
  std::cout << "\nscores:";
  for (int64_t i = 0; i < names.count(); ++i) std::cout << " " << names.string(i) << "=" << scores.data<float>()[i];
  std::cout << "\n";

  // An empty optional needs its type, which the session knows.
  const Value nothing = Value::optional(Value(), session.input_type(2).element()->handle());
  const auto without = session.run({Value::strings({2}, words), Value::sequence(parts), nothing, features});
  std::cout << "given: " << without[2].data<const bool>()[0] << "\n";
} catch (const tenon::Error& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 1;
}
