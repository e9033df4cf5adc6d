# hpcml_embed(TARGET NAME DIR GLOB...): compiles files into TARGET as
#   namespace hpcml::embedded { std::span<const EmbeddedFile> NAME(); }   (see src/core/util/embedded.hpp)
# so that one binary, copied to a login node, carries its profiles and templates.
function(hpcml_embed TARGET NAME DIR)
  set(patterns)
  foreach(glob IN LISTS ARGN)
    list(APPEND patterns ${DIR}/${glob})
  endforeach()
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  list(FILTER files EXCLUDE REGEX "/schema\\.json$") # the program writes it
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embedded_${NAME}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DNAME=${NAME} -DDIR=${DIR} -DOUT=${out} "-DFILES=${files}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${TARGET} PRIVATE ${out})
endfunction()
