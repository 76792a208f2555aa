/* gpu_probe: which CUDA device would a program get?
 *
 * Asks the driver itself and needs no toolkit: libcuda is opened when the
 * program runs, so that it builds and answers on any machine.
 *
 * On stdout, one `key=value` a line. Where a device can be used, exit status 0:
 *   driver=13000        the CUDA version that the driver supports,
 *                       1000 * major + 10 * minor
 *   devices=1           how many CUDA_VISIBLE_DEVICES leaves
 *   name=NVIDIA H200    device 0 of these, the one that programs run on
 *   arch=sm_90          its compute capability
 * Where none can be used, exit status 77 and one line:
 *   reason=no driver library (libcuda.so.1)
 */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the CUDA driver API, whose binary interface does not change: results,
 * devices and attributes are int, results are 0 for success. */
enum {
    ERROR_INSUFFICIENT_DRIVER = 35,
    ERROR_NO_DEVICE = 100,
    COMPUTE_CAPABILITY_MAJOR = 75,
    COMPUTE_CAPABILITY_MINOR = 76
};

static int (*cu_init)(unsigned flags);
static int (*cu_driver_get_version)(int *version);
static int (*cu_device_get_count)(int *count);
static int (*cu_device_get)(int *device, int ordinal);
static int (*cu_device_get_name)(char *name, int size, int device);
static int (*cu_device_get_attribute)(int *value, int attribute, int device);

/* Copies the address of a function of the library into *function. ISO C has no
 * conversion from void * to a function pointer; POSIX says that both have the
 * same representation. */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool find_all(void *library)
{
    return find(library, "cuInit", &cu_init) &&
           find(library, "cuDriverGetVersion", &cu_driver_get_version) &&
           find(library, "cuDeviceGetCount", &cu_device_get_count) &&
           find(library, "cuDeviceGet", &cu_device_get) &&
           find(library, "cuDeviceGetName", &cu_device_get_name) &&
           find(library, "cuDeviceGetAttribute", &cu_device_get_attribute);
}

/* One line a key, whatever the driver calls a thing: printed as plain ASCII. */
static void put(const char *text)
{
    for (; *text != '\0'; text++)
        putchar(*text < ' ' || *text > '~' ? '?' : *text);
}

/* The errors that students meet, for a library that does not name them itself. */
static const struct {
    int number;
    const char *name, *words;
} known[] = {
    {34, "CUDA_ERROR_STUB_LIBRARY", "the library is the toolkit's stub, not the driver's"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the device is busy or unavailable"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "a call of the operating system failed"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "the system is not ready to start CUDA"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "the library and the kernel's driver differ in version"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility is not for this card"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static int driver_error(void *library, int error)
{
    int (*get_name)(int error, const char **name);
    int (*get_string)(int error, const char **words);
    const char *name = NULL, *words = NULL;

    if (find(library, "cuGetErrorName", &get_name) && get_name(error, &name) != 0)
        name = NULL;
    if (find(library, "cuGetErrorString", &get_string) && get_string(error, &words) != 0)
        words = NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].number == error) {
            name = name != NULL ? name : known[i].name;
            words = words != NULL ? words : known[i].words;
        }
    printf("reason=driver error %d", error);
    if (words != NULL) {
        printf(", ");
        put(words);
    }
    if (name != NULL) {
        printf(" (");
        put(name);
        putchar(')');
    }
    putchar('\n');
    return 77;
}

static int unusable(void *library, int error)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    if (error == ERROR_NO_DEVICE && visible != NULL)
        puts("reason=no device, as CUDA_VISIBLE_DEVICES is set");
    else if (error == ERROR_NO_DEVICE)
        puts("reason=no device");
    else if (error == ERROR_INSUFFICIENT_DRIVER)
        puts("reason=the driver is too old");
    else
        return driver_error(library, error);
    return 77;
}

int main(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    char name[256] = "";
    int version = 0, devices = 0, device = 0, major = 0, minor = 0;
    int error;

    if (library == NULL)
        library = dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        puts("reason=no driver library (libcuda.so.1)");
        return 77;
    }
    if (!find_all(library)) {
        puts("reason=the driver library lacks functions of the CUDA driver API");
        return 77;
    }
    if ((error = cu_init(0)) != 0 || (error = cu_driver_get_version(&version)) != 0 ||
        (error = cu_device_get_count(&devices)) != 0)
        return unusable(library, error);
    if (devices < 1)
        return unusable(library, ERROR_NO_DEVICE);
    if ((error = cu_device_get(&device, 0)) != 0 ||
        (error = cu_device_get_name(name, (int)sizeof name - 1, device)) != 0 ||
        (error = cu_device_get_attribute(&major, COMPUTE_CAPABILITY_MAJOR, device)) != 0 ||
        (error = cu_device_get_attribute(&minor, COMPUTE_CAPABILITY_MINOR, device)) != 0)
        return unusable(library, error);
    printf("driver=%d\ndevices=%d\nname=", version, devices);
    put(name);
    printf("\narch=sm_%d%d\n", major, minor);
    return 0;
}
