// The door through which the fake driver starts a kernel that was compiled for the CPU: arguments as cuLaunchKernel has them.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

template <class... A, std::size_t... I>
void call_kernel(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::remove_cvref_t<A>*>(arguments[I])...);
}
template <class... A>
void call_kernel(void (*kernel)(A...), void** arguments) {
  call_kernel(kernel, arguments, std::index_sequence_for<A...>{});
}
