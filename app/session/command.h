// Anything a person can do, as a value: one of the structs of commands.h and proposal_commands.h, its type forgotten. Panels append
// commands while drawing and never change the session; the session applies them between two frames.
#pragma once

#include <memory>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace heddle::app {

class Command {
 public:
  template <class C>
  requires(std::is_aggregate_v<C>&& std::is_class_v<C>) Command(C command)
      : type_(&typeid(C)), data_(std::make_shared<const C>(std::move(command))) {}

  /// The command, where it is one of this type; else null.
  template <class C>
  const C* as() const {
    return *type_ == typeid(C) ? static_cast<const C*>(data_.get()) : nullptr;
  }
  template <class... C>
  bool is() const {
    return ((*type_ == typeid(C)) || ...);
  }
  const std::type_info& type() const { return *type_; }

 private:
  const std::type_info* type_;
  std::shared_ptr<const void> data_;
};

class CommandQueue {
 public:
  void push(Command command) { commands_.push_back(std::move(command)); }
  bool empty() const { return commands_.empty(); }
  /// Hands over what was pushed so far, in order.
  std::vector<Command> take() { return std::exchange(commands_, {}); }

 private:
  std::vector<Command> commands_;
};

}  // namespace heddle::app
