#pragma once

#include <string>
#include <utility>
#include <vector>

#include "build/compiler.h"

namespace tenon::build {

// A compiler that is a program of its own, so that whatever it does to itself is only a result here.
//
//   PROGRAM ARGUMENT... REQUEST FOLDER MODEL FILE [MODEL FILE ...]
//
// REQUEST is JSON: {parent, provider, embed, weights_name, models: [name, ...], jobs, threads}. The program writes one
// context file FILE for each MODEL into FOLDER, and weights files beside them, and ends with code 0; or it writes why
// not to standard output and ends with another code. As long as it works it writes something now and then: when it is
// silent for the time that the request allows, it is killed.
class ProgramCompiler : public Compiler {
 public:
  struct Command {
    std::string program;
    std::vector<std::string> arguments;
  };
  ProgramCompiler(std::string name, Abilities abilities, Command command)
      : name_(std::move(name)), abilities_(abilities), command_(std::move(command)) {}

  std::string name() const override { return name_; }
  Abilities abilities() const override { return abilities_; }
  std::string key(const ModelToCompile& model, const GroupToCompile& group) const override;
  std::unique_ptr<CompiledGroup> compile(const GroupToCompile& group) const override;

 private:
  void run(const GroupToCompile& group, const std::string& folder) const;

  std::string name_;
  Abilities abilities_;
  Command command_;
};

}  // namespace tenon::build
