include(GNUInstallDirs)
install(TARGETS hpcml RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET hpcml-torch)
  install(TARGETS hpcml-torch RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hpcml)
endif()
install(DIRECTORY sites/ DESTINATION ${CMAKE_INSTALL_DATADIR}/hpcml/sites FILES_MATCHING PATTERN "*.json")
# What `hpcml man` and `hpcml completion` print, where man and the shells look for it.
install(DIRECTORY ${PROJECT_BINARY_DIR}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
set(completion ${PROJECT_SOURCE_DIR}/src/cli/completion/hpcml)
install(FILES ${completion}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hpcml)
install(FILES ${completion}.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _hpcml)
install(FILES ${completion}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

include(HpcmlDevelopment)
