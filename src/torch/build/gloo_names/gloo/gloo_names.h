// SPDX-License-Identifier: MIT
// The names of Gloo that LibTorch's ProcessGroupGloo.hpp speaks of. Wheels ship that header without Gloo's
// own, and the program holds Gloo's objects by shared pointers that the library makes: it needs their names
// and nothing of their inside. These files are looked at last, so where Gloo's headers are installed those
// are taken.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

namespace transport {

class Device; // made and used by the library only

/// The virtual functions in Gloo's order up to the destructor: a pointer that owns one may destroy it.
class UnboundBuffer {
public:
  virtual ~UnboundBuffer() = 0;
};

} // namespace transport

namespace rendezvous {

/// The functions that LibTorch's store wrapper overrides, in Gloo's order. Our programs do not create
/// objects of it.
class Store {
public:
  virtual ~Store();
  virtual void set(const std::string& key, const std::vector<char>& data) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) = 0;
};

} // namespace rendezvous

/// Of a group that the library holds.
class Context {
public:
  virtual ~Context();
  void setTimeout(std::chrono::milliseconds timeout);
};

} // namespace gloo
