"""Whole training steps, exported as HLO for Meshwright to plan.

Concept: a *model* (``training_step.Model``) is a loss function over abstract
parameters and an abstract batch. ``training_step`` makes one step of it, as
``StepOptions`` say: forward, loss, backward and update. ``export`` lowers that
step with JAX and writes the ``HloModuleProto``. Nothing is ever run and
nothing is downloaded: weights exist only as shapes.

    model_shape --> huggingface | decoder | moe | unet | convnet
                                          |
                     step_options --> training_step | own_step
                                          |
                                          +--> export --> .hlo.pb

A step that is more than one loss and one optimizer is an ``own_step.OwnStep``.

From the shell: ``python -m meshwright_models llama --layers 2 -o FILE``.
"""
