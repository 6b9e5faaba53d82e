# SPDX-License-Identifier: GPL-2.0
# The target dfr_module: kmod/<kernel release>/dfr.ko below the build folder for
# each kernel of DFR_KERNELS. A kernel is a version that tests/vm/kernel knows
# ("6.1", "6.12-rt-amd64" is not one: give "6.12 rt-amd64"), fetched when it is
# first configured, or the path of a folder of headers.
set(DFR_KERNELS "6.1;6.12" CACHE STRING "Kernels to build dfr.ko for")

file(GLOB module_inputs CONFIGURE_DEPENDS
	${CMAKE_SOURCE_DIR}/formats/abi/*.h
	${CMAKE_CURRENT_SOURCE_DIR}/engine/*.h
	${CMAKE_CURRENT_SOURCE_DIR}/engine/*/*.[ch]
	${CMAKE_CURRENT_SOURCE_DIR}/linux/*.[chS]
	${CMAKE_CURRENT_SOURCE_DIR}/providers/*.[ch])
list(APPEND module_inputs
	${CMAKE_CURRENT_SOURCE_DIR}/Kbuild
	${CMAKE_CURRENT_SOURCE_DIR}/build-module)

# Sets headers and release for one entry of DFR_KERNELS.
macro(dfr_find_kernel kernel)
	if(IS_ABSOLUTE ${kernel})
		set(headers ${kernel})
		file(READ ${headers}/include/config/kernel.release release)
		string(STRIP ${release} release)
	else()
		separate_arguments(kernel_arguments UNIX_COMMAND ${kernel})
		execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tests/vm/kernel ${kernel_arguments}
			OUTPUT_VARIABLE kernel_folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
		get_filename_component(release ${kernel_folder} NAME)
		set(headers ${kernel_folder}/build)
	endif()
endmacro()

# The kernel's own extra warnings, where warnings are errors of ours: the dev preset.
set(warnings)
if(DFR_WERROR)
	set(warnings 1)
endif()

set(modules)
foreach(kernel IN LISTS DFR_KERNELS)
	dfr_find_kernel(${kernel})
	set(module ${CMAKE_CURRENT_BINARY_DIR}/${release}/dfr.ko)
	add_custom_command(OUTPUT ${module}
		COMMAND ${CMAKE_COMMAND} -E env DFR_W=${warnings} ${CMAKE_CURRENT_SOURCE_DIR}/build-module ${headers} ${CMAKE_CURRENT_BINARY_DIR}/${release}
		# Kbuild leaves a module alone that would come out the same.
		COMMAND ${CMAKE_COMMAND} -E touch ${module}
		DEPENDS ${module_inputs}
		COMMENT "Building dfr.ko for ${release}"
		VERBATIM)
	list(APPEND modules ${module})
endforeach()
add_custom_target(dfr_module ALL DEPENDS ${modules})
