/* Native code from bytes: a loader for relocatable x86-64 ELF objects. Objects come from our own
 * emitters or from the cache; every field is checked, so that a damaged file is an error and not a
 * crash. */
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    PyObject_HEAD
    char *memory;       /* an object's pages, or NULL */
    size_t size;
    PyObject *symbols;  /* dict: name -> address, of an object */
    PyObject *functions;    /* address -> name, of its local functions, too */
} CodeObject;

static PyTypeObject CodeObject_Type;

static CodeObject *code_object(void) {
    CodeObject *code = PyObject_New(CodeObject, &CodeObject_Type);
    if (code != NULL) {
        code->memory = NULL;
        code->size = 0;
        code->symbols = NULL;
        code->functions = NULL;
    }
    return code;
}

static void code_dealloc(PyObject *self) {
    CodeObject *code = (CodeObject *)self;
    if (code->memory != NULL) {
        munmap(code->memory, code->size);
    }
    Py_XDECREF(code->symbols);
    Py_XDECREF(code->functions);
    PyObject_Free(self);
}

static PyObject *code_address(PyObject *self, PyObject *name) {
    CodeObject *code = (CodeObject *)self;
    PyObject *address = Py_XNewRef(PyDict_GetItemWithError(code->symbols, name));
    if (address == NULL && !PyErr_Occurred()) {
        PyErr_Format(PyExc_KeyError, "no symbol %R in the native code", name);
    }
    return address;
}

static PyObject *code_name_at(PyObject *self, PyObject *address) {
    PyObject *functions = ((CodeObject *)self)->functions;
    PyObject *name = functions == NULL ? NULL : PyDict_GetItemWithError(functions, address);
    return name != NULL ? Py_NewRef(name) : PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef code_methods[] = {
    {"name_at", code_name_at, METH_O,
     "name_at(address): the function that begins there; None where that is not known."},
    {"address", code_address, METH_O, "address(symbol): where it lies, valid while this lives."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject CodeObject_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "graphwright.runtime._core.CodeObject",
    .tp_doc = "Loaded native code; unloaded with the last reference.",
    .tp_basicsize = sizeof(CodeObject),
    .tp_dealloc = code_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_methods = code_methods,
};

PyTypeObject *const gw_code_type = &CodeObject_Type;

#if defined(__linux__) && defined(__x86_64__)
#include <elf.h>

enum { READ_ONLY, EXECUTABLE, WRITABLE, NUM_SEGMENTS };
enum { MAX_SECTIONS = 4096, MAX_SYMBOLS = 1 << 16, STUB_BYTES = 16, NOT_LOADED = -1 };
static const size_t MAX_BYTES = (size_t)1 << 30;

typedef struct {
    const char *bytes;
    size_t size;
    const Elf64_Shdr *sections;
    size_t num_sections;
    const Elf64_Sym *symbols;
    size_t num_symbols;
    const char *names;          /* of the symbols */
    size_t names_size;
    int64_t *offsets;           /* [num_sections]: in memory, or NOT_LOADED */
    size_t segments[NUM_SEGMENTS + 1];  /* where each begins, and the end */
    size_t got, stubs;          /* a slot and a jump for each symbol */
    char *memory;
} Image;

static bool damaged(const char *what) {
    PyErr_Format(PyExc_ValueError, "cannot load the object code: %s", what);
    return false;
}

/* What compilers may call whatever the source says. */
static void *external_address(const char *name) {
    static const struct {
        const char *name;
        void *address;
    } known[] = {
        {"memcpy", (void *)memcpy}, {"memset", (void *)memset}, {"memmove", (void *)memmove},
        {"memcmp", (void *)memcmp}, {"fmod", (void *)fmod}, {"fmodf", (void *)fmodf},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, name) == 0) {
            return known[i].address;
        }
    }
    return NULL;
}

/* ---- reading ---- */

static bool inside(const Image *image, uint64_t offset, uint64_t size) {
    return offset <= image->size && size <= image->size - offset;
}

static bool read_header(Image *image) {
    Elf64_Ehdr header;
    if (image->size < sizeof header) {
        return damaged("it is too short");
    }
    memcpy(&header, image->bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64
        || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL
        || header.e_machine != EM_X86_64) {
        return damaged("it is no relocatable x86-64 ELF file");
    }
    image->num_sections = header.e_shnum;
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % 8 != 0
        || image->num_sections > MAX_SECTIONS
        || !inside(image, header.e_shoff, image->num_sections * sizeof(Elf64_Shdr))) {
        return damaged("its section table lies outside");
    }
    image->sections = (const Elf64_Shdr *)(image->bytes + header.e_shoff);
    for (size_t i = 0; i < image->num_sections; i++) {
        const Elf64_Shdr *s = &image->sections[i];
        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL
            && !inside(image, s->sh_offset, s->sh_size)) {
            return damaged("a section lies outside");
        }
    }
    return true;
}

static bool read_symbols(Image *image) {
    for (size_t i = 0; i < image->num_sections; i++) {
        const Elf64_Shdr *s = &image->sections[i];
        if (s->sh_type != SHT_SYMTAB) {
            continue;
        }
        if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_offset % 8 != 0
            || s->sh_link >= image->num_sections
            || image->sections[s->sh_link].sh_type != SHT_STRTAB
            || s->sh_size / sizeof(Elf64_Sym) > MAX_SYMBOLS) {
            return damaged("its symbol table is not valid");
        }
        const Elf64_Shdr *names = &image->sections[s->sh_link];
        image->symbols = (const Elf64_Sym *)(image->bytes + s->sh_offset);
        image->num_symbols = s->sh_size / sizeof(Elf64_Sym);
        image->names = image->bytes + names->sh_offset;
        image->names_size = names->sh_size;
        if (names->sh_size == 0 || image->names[names->sh_size - 1] != 0) {
            return damaged("its symbol names are not terminated");
        }
        return true;
    }
    return damaged("it has no symbols");
}

static const char *symbol_name(const Image *image, const Elf64_Sym *symbol) {
    return symbol->st_name < image->names_size ? image->names + symbol->st_name : "";
}

/* ---- layout ---- */

static bool is_loaded(const Elf64_Shdr *s) {
    bool content = s->sh_type != SHT_NULL && s->sh_type != SHT_NOTE
                   && s->sh_type != SHT_X86_64_UNWIND;
    return content && (s->sh_flags & SHF_ALLOC) != 0;
}

static int segment_of(const Elf64_Shdr *s) {
    return s->sh_flags & SHF_EXECINSTR ? EXECUTABLE : s->sh_flags & SHF_WRITE ? WRITABLE
                                                                              : READ_ONLY;
}

static bool place(const Elf64_Shdr *s, int64_t *offset, size_t *end) {
    uint64_t align = s->sh_addralign > 1 ? s->sh_addralign : 1;
    if ((align & (align - 1)) != 0 || align > 4096 || s->sh_size > MAX_BYTES) {
        return damaged("a section's size or alignment is not valid");
    }
    if ((s->sh_flags & SHF_TLS) != 0 || s->sh_type == SHT_INIT_ARRAY
        || s->sh_type == SHT_FINI_ARRAY || s->sh_type == SHT_PREINIT_ARRAY) {
        return damaged("it has thread-local data or initialisers");
    }
    size_t start = (*end + align - 1) & ~(size_t)(align - 1);
    if (start + s->sh_size > MAX_BYTES) {
        return damaged("it is larger than 1 GiB");
    }
    *offset = (int64_t)start;
    *end = start + s->sh_size;
    return true;
}

static bool lay_out(Image *image) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = 0;
    for (int segment = 0; segment < NUM_SEGMENTS; segment++) {
        image->segments[segment] = end;
        for (size_t i = 0; i < image->num_sections; i++) {
            const Elf64_Shdr *s = &image->sections[i];
            if (is_loaded(s) && segment_of(s) == segment
                && !place(s, &image->offsets[i], &end)) {
                return false;
            }
        }
        end = (end + 15) & ~(size_t)15;
        if (segment == READ_ONLY) {
            image->got = end;
            end += image->num_symbols * sizeof(uint64_t);
        } else if (segment == EXECUTABLE) {
            image->stubs = end;
            end += image->num_symbols * STUB_BYTES;
        }
        end = (end + page - 1) & ~(page - 1);
    }
    image->segments[NUM_SEGMENTS] = end;
    return true;
}

static bool copy_sections(Image *image) {
    size_t size = image->segments[NUM_SEGMENTS];
    image->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image->memory == MAP_FAILED) {
        image->memory = NULL;
        PyErr_SetFromErrno(PyExc_OSError);
        return false;
    }
    for (size_t i = 0; i < image->num_sections; i++) {
        const Elf64_Shdr *s = &image->sections[i];
        if (image->offsets[i] != NOT_LOADED && s->sh_type != SHT_NOBITS) {
            memcpy(image->memory + image->offsets[i], image->bytes + s->sh_offset, s->sh_size);
        }
    }
    return true;
}

/* ---- linking ---- */

/* Fills the symbol's slot of the table of addresses. External functions get a jump too. */
static bool resolve(Image *image, size_t index, uint64_t *address) {
    const Elf64_Sym *symbol = &image->symbols[index];
    uint16_t section = symbol->st_shndx;
    uint64_t *slot = (uint64_t *)(image->memory + image->got) + index;
    if (section == SHN_ABS) {
        *address = symbol->st_value;
    } else if (section == SHN_UNDEF) {
        const char *name = symbol_name(image, symbol);
        void *external = external_address(name);
        if (external == NULL) {
            PyErr_Format(PyExc_ValueError, "the object code refers to %s, which it lacks", name);
            return false;
        }
        char *stub = image->memory + image->stubs + index * STUB_BYTES;
        int32_t distance = (int32_t)((char *)slot - (stub + 6));
        memcpy(stub, "\xff\x25", 2);    /* jmp *distance(%rip) */
        memcpy(stub + 2, &distance, sizeof distance);
        *slot = (uint64_t)(uintptr_t)external;
        *address = (uint64_t)(uintptr_t)stub;
        return true;
    } else if (section >= image->num_sections || image->offsets[section] == NOT_LOADED
               || symbol->st_value > image->sections[section].sh_size) {
        return damaged("a symbol lies outside of what is loaded");
    } else {
        *address = (uint64_t)(uintptr_t)image->memory + (uint64_t)image->offsets[section]
                   + symbol->st_value;
    }
    *slot = *address;
    return true;
}

static bool store(char *at, int64_t value, int bytes, bool is_signed) {
    if (bytes == 4) {
        if (is_signed ? value != (int32_t)value : value != (int64_t)(uint32_t)value) {
            return damaged("a reference reaches too far; compile position-independent code");
        }
        uint32_t word = (uint32_t)value;
        memcpy(at, &word, sizeof word);
    } else {
        memcpy(at, &value, sizeof value);
    }
    return true;
}

static bool relocate(Image *image, const Elf64_Rela *rela, const Elf64_Shdr *target, char *base) {
    uint32_t type = ELF64_R_TYPE(rela->r_info);
    size_t index = ELF64_R_SYM(rela->r_info);
    int bytes = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
    uint64_t address;
    if (type == R_X86_64_NONE) {
        return true;
    }
    if (index >= image->num_symbols || rela->r_offset > target->sh_size
        || target->sh_size - rela->r_offset < (uint64_t)bytes) {
        return damaged("a relocation lies outside");
    }
    if (!resolve(image, index, &address)) {
        return false;
    }
    char *at = base + rela->r_offset;
    uint64_t value = address + (uint64_t)rela->r_addend, here = (uint64_t)(uintptr_t)at;
    uint64_t slot = (uint64_t)(uintptr_t)(image->memory + image->got + index * sizeof(uint64_t));
    switch (type) {
        case R_X86_64_64:
            return store(at, (int64_t)value, 8, true);
        case R_X86_64_PC64:
            return store(at, (int64_t)(value - here), 8, true);
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
            return store(at, (int64_t)(value - here), 4, true);
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX:
            return store(at, (int64_t)(slot + (uint64_t)rela->r_addend - here), 4, true);
        case R_X86_64_32:
            return store(at, (int64_t)value, 4, false);
        case R_X86_64_32S:
            return store(at, (int64_t)value, 4, true);
        default:
            PyErr_Format(PyExc_ValueError, "cannot load the object code: relocation type %u is "
                         "not supported", type);
            return false;
    }
}

static bool link_sections(Image *image) {
    for (size_t i = 0; i < image->num_sections; i++) {
        const Elf64_Shdr *s = &image->sections[i];
        bool relative = s->sh_type == SHT_REL;
        if ((s->sh_type != SHT_RELA && !relative) || s->sh_info >= image->num_sections
            || image->offsets[s->sh_info] == NOT_LOADED) {
            continue;
        }
        const Elf64_Shdr *target = &image->sections[s->sh_info];
        if (relative || s->sh_entsize != sizeof(Elf64_Rela) || s->sh_offset % 8 != 0
            || target->sh_type == SHT_NOBITS) {
            return damaged("its relocations are not valid");
        }
        const Elf64_Rela *relas = (const Elf64_Rela *)(image->bytes + s->sh_offset);
        char *base = image->memory + image->offsets[s->sh_info];
        for (size_t r = 0; r < s->sh_size / sizeof(Elf64_Rela); r++) {
            if (!relocate(image, &relas[r], target, base)) {
                return false;
            }
        }
    }
    return true;
}

/* No page is both writable and executable once code can run. */
static bool protect(const Image *image) {
    static const int protection[NUM_SEGMENTS] = {PROT_READ, PROT_READ | PROT_EXEC,
                                                 PROT_READ | PROT_WRITE};
    for (int i = 0; i < NUM_SEGMENTS; i++) {
        size_t begin = image->segments[i], end = image->segments[i + 1];
        if (end > begin && mprotect(image->memory + begin, end - begin, protection[i]) != 0) {
            PyErr_SetFromErrno(PyExc_OSError);
            return false;
        }
    }
    return true;
}

/* Sets an item and releases its key and value; false with an exception. */
static bool set_item(PyObject *dict, PyObject *key, PyObject *value) {
    bool done = key != NULL && value != NULL && PyDict_SetItem(dict, key, value) == 0;
    Py_XDECREF(key);
    Py_XDECREF(value);
    return done;
}

static bool export_symbols(Image *image, CodeObject *code) {
    for (size_t i = 1; i < image->num_symbols; i++) {
        const Elf64_Sym *symbol = &image->symbols[i];
        const char *name = symbol_name(image, symbol);
        bool local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
        bool function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
        uint64_t address;
        if (symbol->st_shndx == SHN_UNDEF || (local && !function)) {
            continue;
        }
        if (!resolve(image, i, &address)
            || (!local && !set_item(code->symbols, PyUnicode_FromString(name),
                                    PyLong_FromUnsignedLongLong(address)))
            || (function && !set_item(code->functions, PyLong_FromUnsignedLongLong(address),
                                      PyUnicode_FromString(name)))) {
            return false;
        }
    }
    return true;
}

static bool load_image(Image *image, CodeObject *code) {
    if (!read_header(image) || !read_symbols(image)) {
        return false;
    }
    image->offsets = PyMem_New(int64_t, image->num_sections);
    if (image->offsets == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < image->num_sections; i++) {
        image->offsets[i] = NOT_LOADED;
    }
    if (!lay_out(image) || !copy_sections(image)) {
        return false;
    }
    code->memory = image->memory;
    code->size = image->segments[NUM_SEGMENTS];
    return link_sections(image) && export_symbols(image, code) && protect(image);
}

static PyObject *load_object(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    Py_buffer buffer;
    if (PyObject_GetBuffer(arg, &buffer, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    Image image = {.size = (size_t)buffer.len};
    /* A copy, because the tables are read in place and must be aligned. */
    char *copy = PyMem_Malloc(image.size + 1);
    CodeObject *code = copy != NULL ? code_object() : (CodeObject *)PyErr_NoMemory();
    bool loaded = false;
    if (code != NULL && (code->symbols = PyDict_New()) != NULL
        && (code->functions = PyDict_New()) != NULL) {
        memcpy(copy, buffer.buf, image.size);
        image.bytes = copy;
        loaded = load_image(&image, code);
    }
    PyMem_Free(image.offsets);
    PyMem_Free(copy);
    PyBuffer_Release(&buffer);
    if (!loaded) {
        Py_CLEAR(code);
    }
    return (PyObject *)code;
}
#else
static PyObject *load_object(PyObject *self, PyObject *arg) {
    GW_UNUSED(self);
    GW_UNUSED(arg);
    PyErr_SetString(PyExc_NotImplementedError,
                    "object code is loaded on Linux x86-64 only");
    return NULL;
}
#endif

PyMethodDef gw_object_methods[] = {
    {"load_object", load_object, METH_O,
     "load_object(elf): code from the bytes of a relocatable x86-64 ELF file that refers to "
     "nothing outside; ValueError if it cannot be loaded."},
    {NULL, NULL, 0, NULL},
};
