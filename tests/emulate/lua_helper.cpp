// SPDX-License-Identifier: MIT
#include "emulate/lua_helper.hpp"

#include <dlfcn.h>

namespace hpcml::test {

namespace {

template <class Function> Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

} // namespace

std::optional<std::string> run_lua(const std::string& chunk) {
  void* library = ::dlopen("liblua5.1.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  void* state = find<void* (*)()>(library, "luaL_newstate")();
  find<void (*)(void*)>(library, "luaL_openlibs")(state);
  const int loaded = find<int (*)(void*, const char*, std::size_t, const char*)>(library, "luaL_loadbuffer")(
      state, chunk.data(), chunk.size(), "chunk");
  const int code =
      loaded != 0 ? loaded : find<int (*)(void*, int, int, int)>(library, "lua_pcall")(state, 0, 1, 0);
  std::size_t size = 0;
  const char* text =
      find<const char* (*)(void*, int, std::size_t*)>(library, "lua_tolstring")(state, -1, &size);
  std::string result = text == nullptr ? "nil" : std::string(text, size);
  find<void (*)(void*)>(library, "lua_close")(state);
  return code == 0 ? result : "error: " + result;
}

} // namespace hpcml::test
