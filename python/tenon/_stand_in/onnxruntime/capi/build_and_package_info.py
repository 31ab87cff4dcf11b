"""The interface that Tenon stands for."""

package_name = "onnxruntime"
__version__ = "1.31.1"
