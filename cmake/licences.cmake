# The terms of the code that the libraries, the command and the wheel contain, as the Debian packages state them.
set(licensed_packages libcli11-dev libfmt-dev libhwy-dev libprotozero-dev libre2-dev libutf8proc-dev libxxhash-dev
  nlohmann-json3-dev)

# tenon_install_licences(<folder> [options of install()]): one file per package.
function(tenon_install_licences folder)
  foreach(package IN LISTS licensed_packages)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION ${folder} RENAME ${package}.txt OPTIONAL ${ARGN})
  endforeach()
endfunction()
